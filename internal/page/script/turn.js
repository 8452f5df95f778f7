// One turn: what was asked, what was done and answered, what it changed.

async function showTurn(t) {
  const main = byId('main')
  main.replaceChildren(turnHead(t), element('p', {class: 'note'}, 'Opening...'))
  const d = await detail(t)
  if (route.turn !== t) return // the page was moved on meanwhile
  main.replaceChildren(turnHead(t), ...turnBody(t, d))
}

function turnHead(t) {
  const before = t.mission.turns[t.place - 1], after = t.mission.turns[t.place + 1]
  const marked = comparison.first === t
  return element('div', {class: 'turn-head'},
    element('h2', null, 'Turn ', element('a', {href: `#${name(t)}`, title: 'a link to this turn'}, name(t))),
    element('p', {class: 'facts'}, outcome(t), ', ', t.checked ? `${t.checked}, ` : '', time(t.at), t.took ? `, took ${duration(t.took)}` : '', ', ',
      t.files ? [plural(t.files, 'file'), ' ', change(t)] : 'no file changed',
      reviewed(t) ? `, ${reviewer(t)}` : ''),
    element('div', {class: 'steps'},
      before ? element('a', {href: `#${name(before)}`, rel: 'prev'}, 'Previous') : element('span', null, 'Previous'),
      after ? element('a', {href: `#${name(after)}`, rel: 'next'}, 'Next') : element('span', null, 'Next'),
      element('button', {type: 'button', class: 'small', 'aria-pressed': String(marked), click: () => mark(t)},
        marked ? 'Chosen: now choose another' : comparison.first ? `Compare with ${name(comparison.first)}` : 'Compare'),
      element('button', {type: 'button', class: 'small', click: unfoldAll}, 'Unfold')))
}

function turnBody(t, d) {
  const parts = []
  if (t.foreign) {
    parts.push(element('p', {class: 'warning'}, 'Untrusted: not signed by a key that the maker of this page trusts, and not accepted.'))
  }
  if (t.unproven) parts.push(element('p', {class: 'warning'}, 'Its reply says that tests pass; no such run is recorded.'))
  if (d.between?.length) {
    parts.push(element('section', null, element('h3', null, 'Changed by others before it'), filesChanged(d.between, 'Changed by others before it')))
  }
  parts.push(element('section', {class: 'prompt'}, element('h3', null, 'Prompt'), element('div', {class: 'said'}, visible(d.prompt || '(none)'))))
  if (d.missing) parts.push(element('p', {class: 'note'}, visible(d.missing)))
  if (d.steps?.length) {
    parts.push(element('section', null, element('h3', null, 'Conversation'), stepList(d.steps, d)))
  }
  if (d.reply?.length) parts.push(element('section', {class: 'reply'}, element('h3', null, 'Reply'), element('div', {class: 'md'}, markdown(d.reply))))
  const lone = (d.agents ?? []).filter(a => !d.steps?.some(s => s.agent === a.id))
  if (lone.length) parts.push(element('section', null, element('h3', null, 'Sub-agents'), lone.map(agentPart)))
  if (d.files?.length) parts.push(element('section', null, element('h3', null, `Changed: ${plural(d.files.length, 'file')}`), filesChanged(d.files, 'Changed')))
  if (d.skipped?.length) {
    parts.push(element('section', null, element('h3', null, 'Left out of the record'),
      element('ul', null, d.skipped.map(s => element('li', null, element('span', {class: 'path'}, visible(s.path)), ` (${visible(s.why)})`)))))
  }
  parts.push(folded('Facts', () => factTable(t, d)))
  return parts
}

function factTable(t, d) {
  const rows = [...(d.facts ?? [])]
  return element('table', {class: 'facts'}, element('tbody', null, rows.map(([key, value]) =>
    element('tr', null, element('th', {scope: 'row'}, visible(key)), element('td', null, visible(value))))))
}

const stepNames = {
  note: 'Note', failed: 'Failed',
  queued: 'Typed while it ran', thought: 'Thinking', shell: 'Printed by a command of the user', task: 'A task in the background',
  gist: 'What the compaction left', told: 'Told by the client', asked: 'Asked', added: 'Added', other: 'Other',
}

function stepList(steps, d) {
  return element('ol', {class: 'step-list'}, steps.map(s => element('li', {class: s.kind}, stepPart(s, d))))
}

function stepPart(s, d) {
  switch (s.kind) {
    case 'said':
      return element('div', {class: 'md'}, markdown(s.tree))
    case 'call':
      return callPart(s, d)
    case 'queued':
      return [element('p', {class: 'label'}, stepNames.queued), element('div', {class: 'said'}, visible(s.text))]
    default:
      return folded([stepNames[s.kind] ?? visible(s.kind), ' ', element('span', {class: 'brief'}, visible(firstLine(s.text)))], () => preformatted(s.text))
  }
}

function callPart(s, d) {
  const agent = s.agent && d.agents?.find(a => a.id === s.agent)
  const result = s.result
  const head = [element('span', {class: 'tool'}, visible(s.name)), ' ', element('span', {class: 'brief'}, visible(s.brief ?? '')),
    result?.failed ? element('span', {class: 'failed'}, ' failed') : null,
    result ? null : element('span', {class: 'notes'}, ' no result')]
  return folded(head, () => [
    s.input ? [element('p', {class: 'label'}, 'Given'), preformatted(s.input)] : null,
    result?.text ? [element('p', {class: 'label'}, 'Result'), preformatted(result.text)] : null,
    result?.left ? element('p', {class: 'note'}, visible(result.left)) : null,
    (result?.files ?? []).map(f => element('p', {class: 'note'}, visible(f))),
    agent ? agentPart(agent) : null,
  ].flat().filter(Boolean))
}

function agentPart(a) {
  return folded(['Sub-agent ', element('span', {class: 'brief'}, visible(a.line || a.id))],
    () => a.steps?.length ? stepList(a.steps, {agents: []}) : element('p', {class: 'note'}, visible(a.missing || 'Nothing of its conversation is in this page.')))
}

function preformatted(text) { return element('pre', {tabindex: 0}, visible(text ?? '')) }

function firstLine(text) {
  const first = (text ?? '').trimStart().split('\n', 1)[0]
  return first.length > 120 ? first.slice(0, 120) + '...' : first
}

// unfoldAll opens all that is folded in the turn, or closes it again.
function unfoldAll() {
  const list = [...byId('main').querySelectorAll('details')]
  const open = list.some(d => !d.open)
  for (const d of list) {
    if (open) d.unfold?.()
    d.open = open
  }
  for (const made of open ? [...byId('main').querySelectorAll('details:not([open])')] : []) { // by unfolding what is around them
    made.unfold?.()
    made.open = true
  }
  announce(open ? 'Everything is unfolded' : 'Everything is folded')
}
