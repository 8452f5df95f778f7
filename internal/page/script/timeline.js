// The turns of a mission, a row each. Only those in sight are elements, so that ten thousand scroll as ten do.

const rowHeight = 60 // pixels, as in the style sheet

const line = {mission: null, box: null, list: null, selected: null}

function showTimeline(m, current) {
  const section = byId('timeline')
  section.hidden = !m
  if (!m) {
    line.mission = null
    return
  }
  if (line.mission !== m) {
    line.mission = m
    line.list = element('ol', {class: 'rows'})
    line.list.style.height = `${m.turns.length * rowHeight}px`
    line.box = element('div', {class: 'scroll', tabindex: -1, scroll: drawRows}, line.list)
    section.replaceChildren(timelineHead(m), line.box)
  }
  line.selected = current
  section.querySelector('.chart')?.replaceChildren(...[contextCurve(m, current, section.clientWidth - 32)].filter(Boolean))
  if (current) reveal(current)
  drawRows()
}

function timelineHead(m) {
  const facts = [plural(m.turns.length, 'turn'), m.agent, m.by && `by ${m.by}`].filter(Boolean)
  const tokens = m.turns.reduce((n, t) => n + t.output, 0)
  if (tokens) facts.push(`${short(tokens)} tokens written`)
  return element('div', {class: 'head'},
    element('h2', null, element('a', {href: `#${m.id}`}, m.id), ' ', visible(m.title)),
    element('p', {class: 'notes'}, visible(facts.join(', ')), m.parent ? [', fork of ', turnLink(m.parent.mission, m.parent.turn)] : null),
    m.finished ? element('p', {class: 'notes'}, `Finished as ${m.finished.commit.slice(0, 8)} ${visible(m.finished.subject)}`) : null,
    m.forks.length ? element('p', {class: 'notes'}, 'Forks: ', m.forks.map((f, i) => [i ? ', ' : '', element('a', {href: `#${f.id}`}, f.id)])) : null,
    element('div', {class: 'chart'}))
}

// turnLink leads to a turn, if the page has it.
function turnLink(mission, n) {
  const text = `${mission}/${n}`
  return turn(mission, n) ? element('a', {href: `#${text}`}, text) : text
}

// redraw is for another width of the window.
function redraw() {
  if (line.mission) showTimeline(line.mission, line.selected)
}

function reveal(t) {
  const top = t.place * rowHeight, box = line.box
  if (top < box.scrollTop || top + rowHeight > box.scrollTop + box.clientHeight) {
    box.scrollTop = Math.max(0, top - box.clientHeight / 2 + rowHeight)
  }
}

let printing = false

function drawRows() {
  const {mission: m, box, list} = line
  if (!m) return
  let first = Math.max(0, Math.floor(box.scrollTop / rowHeight) - 10)
  let last = Math.min(m.turns.length, Math.ceil((box.scrollTop + Math.max(box.clientHeight, 600)) / rowHeight) + 10)
  if (printing) [first, last] = [0, Math.min(m.turns.length, 2000)]
  const there = new Map([...list.children].map(li => [Number(li.dataset.place), li]))
  for (const [place, li] of there) {
    if ((place < first || place >= last) && !li.contains(document.activeElement)) li.remove()
  }
  for (let i = first; i < last; i++) {
    let li = there.get(i)
    if (!li) {
      li = turnRow(m.turns[i])
      const next = [...list.children].find(other => Number(other.dataset.place) > i)
      list.insertBefore(li, next ?? null)
    }
    li.firstChild.toggleAttribute('aria-current', m.turns[i] === line.selected)
    if (m.turns[i] === line.selected) li.firstChild.setAttribute('aria-current', 'true')
  }
}

function turnRow(t) {
  const handoff = t.mission.handoffs.find(h => h.turn === t.number)
  const li = element('li', {'data-place': t.place, 'aria-setsize': t.mission.turns.length, 'aria-posinset': t.place + 1},
    element('a', {href: `#${name(t)}`, class: reviewed(t) ? 'reviewed' : ''},
      element('span', {class: 'top'},
        element('span', {class: 'number'}, t.number), ' ', outcome(t), ' ', changed(t) ? [change(t), ' '] : null,
        t.output ? [element('span', {class: 'tokens', title: 'tokens written'}, `${short(t.output)} tok`), ' '] : null,
        t.checked ? element('span', {class: 'mark'}, `${t.checked} `) : null,
        t.compacted ? element('span', {class: 'mark'}, 'compacted ') : null,
        handoff ? element('span', {class: 'mark'}, 'handoff ') : null,
        reviewed(t) ? element('span', {role: 'img', title: reviewer(t), 'aria-label': reviewer(t)}, '\u2713 ') : null,
        element('span', {class: 'when'}, time(t.at))),
      element('span', {class: 'words'}, visible(t.prompt) || '(no prompt)'),
      bar(t)))
  li.style.top = `${t.place * rowHeight}px`
  return li
}

// bar shows the size of a change: a tenfold change is a step further.
function bar(t) {
  const all = t.insertions + t.deletions
  const width = all === 0 ? 0 : Math.min(100, 10 + 22 * Math.log10(all))
  const e = element('span', {class: 'bar', 'aria-hidden': 'true'}, element('span', {class: 'ins'}), element('span', {class: 'del'}))
  e.firstChild.style.width = `${width * t.insertions / (all || 1)}%`
  e.lastChild.style.width = `${width * t.deletions / (all || 1)}%`
  return e
}
