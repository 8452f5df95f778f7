// Missions, and below each its forks.

// listed is all missions, first those that are below no other.
function listed() {
  const roots = index.missions.filter(m => !missions.get(m.parent?.mission) || m.parent.mission === m.id)
  return [...roots, ...index.missions]
}

function showTree(current) {
  const nav = byId('missions')
  const drawn = new Set() // two untrusted missions may name each other
  const branch = (m, depth) => {
    if (drawn.has(m.id)) return null
    drawn.add(m.id)
    const forks = depth < 40 ? m.forks.map(f => branch(f, depth + 1)).filter(Boolean) : []
    return element('li', null, missionLink(m, current), forks.length ? element('ul', null, forks) : null)
  }
  const list = listed().map(m => branch(m, 0)).filter(Boolean)
  const heading = element('h2', null, plural(index.missions.length, 'mission'))
  nav.replaceChildren(element('details', {open: true, class: 'fold'}, element('summary', null, heading), element('ul', {class: 'tree'}, list)))
  nav.firstChild.open = matchMedia('(min-width: 60em)').matches || !current
}

// label is what tells a mission from others: a fork has the title of what it comes from, unless it was given one.
function label(m) {
  const parent = m.parent && missions.get(m.parent.mission)
  const own = parent?.title === m.title && m.turns.find(t => t.number > m.parent.turn)
  return (own ? own.prompt : m.title) || '(no title)'
}

function missionLink(m, current) {
  const parts = [element('span', {class: 'id'}, m.id), ' ', element('span', {class: 'words'}, visible(label(m)))]
  const notes = [plural(m.turns.length, 'turn')]
  if (m.parent) notes.push(`fork of ${m.parent.mission}/${m.parent.turn}`)
  if (m.finished) notes.push('finished')
  if (m.foreign) notes.push('untrusted')
  return element('a', {href: `#${m.id}`, 'aria-current': m === current ? 'true' : null, class: m.foreign ? 'foreign' : ''},
    parts, element('span', {class: 'notes'}, visible(notes.join(', '))))
}
