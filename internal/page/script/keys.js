// The keyboard.

const keys = [
  ['j', 'the next turn', () => step(1)],
  ['k', 'the turn before', () => step(-1)],
  ['Enter', 'open what has the focus', null],
  ['/', 'search', openSearch],
  ['o', 'unfold everything, or fold it', unfoldAll],
  ['d', 'diffs side by side, or unified', switchDiffs],
  ['c', 'choose this turn, then another, to compare them', () => { if (route.turn) mark(route.turn) }],
  ['t', 'colours: as the system, light, dark', nextTheme],
  ['?', 'these keys', () => byId('help').showModal()],
  ['Esc', 'close search or help', null],
]

function showKeys() {
  byId('keys').replaceChildren(...keys.flatMap(([key, what]) => [element('dt', null, element('kbd', null, key)), element('dd', null, what)]))
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
  if (event.target.closest?.('input, textarea, select')) return
  const entry = keys.find(([key, , act]) => key === event.key && act)
  if (!entry) return
  event.preventDefault()
  entry[2]()
}

// step goes to a turn that is so many further on, or to the first. The address is ahead of the route while the browser has
// not told of its change, as when keys are typed fast.
function step(by) {
  const m = route.mission ?? index.missions[0]
  if (!m) return
  const current = turn(...location.hash.slice(1).split('/')) ?? route.turn
  const place = current ? current.place + by : by > 0 ? 0 : m.turns.length - 1
  const t = m.turns[place]
  if (!t) {
    announce(by > 0 ? 'This is the last turn' : 'This is the first turn')
    return
  }
  location.hash = name(t)
}
