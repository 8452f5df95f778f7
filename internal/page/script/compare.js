// Two turns, or two forks, side by side: what was asked, what came of it, and what differs in the files.

const comparison = {first: null}

// mark chooses a turn to compare; with the second one, both are compared.
function mark(t) {
  const first = comparison.first
  if (first && first !== t) {
    comparison.first = null
    location.hash = `compare/${name(first)}/${name(t)}`
    return
  }
  comparison.first = first === t ? null : t
  announce(comparison.first ? `${name(t)} is chosen: choose another turn to compare it with` : 'Nothing is chosen')
  byId('main').querySelector('.turn-head')?.replaceWith(turnHead(t))
}

async function showComparison(a, b) {
  const main = byId('main')
  const head = element('div', {class: 'turn-head'},
    element('h2', null, 'Compare ', turnLink(a.mission.id, a.number), ' with ', turnLink(b.mission.id, b.number)),
    element('div', {class: 'steps'}, element('a', {href: `#compare/${name(b)}/${name(a)}`}, 'The other way round')))
  main.replaceChildren(head, element('p', {class: 'note'}, 'Opening...'))
  const [da, db] = [await detail(a), await detail(b)]
  const changes = await differences(a, b)
  if (route.key !== `compare/${name(a)}/${name(b)}`) return
  const column = (t, d) => element('td', {'data-of': name(t)}, element('div', {class: 'said'}, visible(d.prompt)), element('div', {class: 'md'}, markdown(d.reply)))
  const row = (title, of) => element('tr', null, element('th', {scope: 'row'}, title), element('td', {'data-of': name(a)}, of(a)), element('td', {'data-of': name(b)}, of(b)))
  const insertions = changes.files.reduce((n, f) => n + f.insertions, 0), deletions = changes.files.reduce((n, f) => n + f.deletions, 0)
  main.replaceChildren(head,
    element('table', {class: 'comparison'},
      element('colgroup', null, element('col', {class: 'names'}), element('col'), element('col')),
      element('thead', null, element('tr', null, element('td'), element('th', {scope: 'col'}, name(a)), element('th', {scope: 'col'}, name(b)))),
      element('tbody', null,
        row('Mission', t => visible(t.mission.title)),
        row('Outcome', outcome),
        row('Date', t => time(t.at)),
        row('Took', t => t.took ? duration(t.took) : ''),
        row('Changed', t => t.files ? [plural(t.files, 'file'), ' ', change(t)] : 'nothing'),
        row('Tokens', t => t.output ? `${short(t.output)} written, ${short(t.context)} in the context` : ''),
        row('Turns so far', t => `${t.place + 1}, ${short(t.mission.turns.slice(0, t.place + 1).reduce((n, u) => n + u.output, 0))} tokens written`),
        element('tr', null, element('th', {scope: 'row'}, 'Asked and answered'), column(a, da), column(b, db)))),
    element('h3', null, `From ${name(a)} to ${name(b)}: ${plural(changes.files.length, 'file')} `, change({insertions, deletions})),
    changes.unknown.length ? element('p', {class: 'note'}, `Not known in this page: ${changes.unknown.map(visible).join(', ')}.`) : '',
    changes.files.length ? filesChanged(changes.files, 'What differs') : '')
}

// differences is what differs between the states after two turns, as far as it is known here.
async function differences(a, b) {
  const files = [], unknown = []
  if (index.without.includes('code')) return {files, unknown: ['code was left out']}
  const [before, after] = [await stateAfter(a), await stateAfter(b)]
  const together = key(a.mission.turns[0]) === key(b.mission.turns[0]) // both began with the same state
  for (const path of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const from = before.get(path)?.now ?? (together ? after.get(path).first : undefined)
    const to = after.get(path)?.now ?? (together ? before.get(path).first : undefined)
    if (from === to) continue
    if (from === undefined || to === undefined) {
      unknown.push(path)
      continue
    }
    const [old, now] = [await content(from), await content(to)]
    if (old === undefined || now === undefined) {
      files.push({path, kind: kindOf(from, to), insertions: 0, deletions: 0, note: 'Its content is not in this page.'})
      continue
    }
    const patch = asPatch(old, now)
    const all = hunks(patch).flatMap(h => h.lines)
    files.push({
      path, patch, kind: kindOf(from, to),
      insertions: all.filter(l => l[0] === '+').length, deletions: all.filter(l => l[0] === '-').length,
    })
  }
  return {files, unknown}
}

function kindOf(from, to) { return from === '' ? 'A' : to === '' ? 'D' : 'M' }

// stateAfter is, for each path that a mission has changed up to a turn, the version that it began with and the one that is
// there after the turn; '' is that of no file.
async function stateAfter(t) {
  const state = new Map()
  for (const earlier of t.mission.turns.slice(0, t.place + 1)) {
    const d = await detail(earlier)
    for (const f of [...d.between ?? [], ...d.files ?? []]) {
      state.set(f.path, {first: state.get(f.path)?.first ?? f.old, now: f.new})
      if (f.patch) versions.set(f.new, {of: f.old, in: earlier, path: f.path})
    }
  }
  return state
}

// versions is how each version of a file is made: by the patch of a turn, from another version.
const versions = new Map()

// content is the text of a version, or undefined.
async function content(version) {
  const chain = []
  for (let v = version; ;) {
    if (v === '') return chain.reduceRight(apply, '')
    const whole = await wholeVersion(v)
    if (whole !== undefined) return chain.reduceRight(apply, whole)
    const made = versions.get(v)
    if (!made || chain.length > 20_000) return undefined
    const d = await detail(made.in)
    const f = [...d.between ?? [], ...d.files ?? []].find(f => f.path === made.path && f.new === v)
    if (!f?.patch) return undefined
    chain.push(f.patch)
    v = f.old
  }
}

function apply(text, patch) { return patched(text, patch) }

// wholeVersion is the text of a version that the page has as a whole.
async function wholeVersion(v) {
  const number = index.wholes?.[v]
  return number === undefined ? undefined : (await packet(number)).wholes[v]
}
