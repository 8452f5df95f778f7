// Where the reader is: the part of the address behind the #.
//
//	#                          all missions; but the page opens at a turn
//	#<mission>                 a mission
//	#<mission>/<turn>          a turn
//	#compare/<turn>/<turn>     two turns

const route = {key: null, mission: null, turn: null}

async function go() {
  const key = decodeURIComponent(location.hash.slice(1))
  const parts = key.split('/')
  Object.assign(route, {key, mission: null, turn: null})
  try {
    if (parts[0] === 'compare') {
      const [a, b] = [turn(parts[1], parts[2]), turn(parts[3], parts[4])]
      if (!a || !b) return missing(key)
      route.mission = b.mission
      arrange('compare')
      showTree(b.mission)
      showTimeline(b.mission, b)
      await showComparison(a, b)
    } else if (key === '') {
      if (index.missions.length === 1) route.mission = index.missions[0]
      arrange(route.mission ? 'mission' : 'all')
      showTree(route.mission)
      showTimeline(route.mission, null)
      showOverview(route.mission)
    } else {
      const m = missions.get(parts[0])
      const t = m && parts.length === 2 ? turn(parts[0], parts[1]) : null
      if (!m || parts.length > 1 && !t) return missing(key)
      Object.assign(route, {mission: m, turn: t})
      arrange(t ? 'turn' : 'mission')
      showTree(m)
      showTimeline(m, t)
      if (t) await showTurn(t)
      else showOverview(m)
    }
    document.title = route.turn ? `Turn ${name(route.turn)}: ${route.turn.prompt}` : route.mission ? `${route.mission.id} ${route.mission.title}` : index.title
    if (route.key === key && key !== '') byId('main').scrollTop = 0
  } catch (error) {
    byId('main').replaceChildren(element('p', {class: 'warning'}, `This part of the page can't be shown: ${error.message}`))
  }
}

// arrange says which pane a narrow screen shows.
function arrange(view) { byId('panes').dataset.view = view }

function missing(key) {
  arrange('all')
  showTree(null)
  showTimeline(null)
  byId('main').replaceChildren(element('p', {class: 'warning'}, `This page has no ${visible(key)}. `, element('a', {href: '#'}, 'All that it has')))
}

// beginning is the oldest turn of a mission that nobody has reviewed, or the newest.
function beginning(m) { return m.turns.find(t => !reviewed(t)) ?? m.turns.at(-1) }

// showOverview is what there is beside the turns of a mission before one is chosen, or beside all missions.
function showOverview(m) {
  const main = byId('main')
  if (m) {
    const t = beginning(m)
    main.replaceChildren(element('div', {class: 'welcome'}, element('p', null, t ? ['Choose a turn, or begin with ', turnLink(m.id, t.number), '.'] : 'It has no turns.')))
    return
  }
  main.replaceChildren(element('div', {class: 'welcome'}, element('table', {class: 'overview'},
    element('caption', {class: 'unseen'}, 'Missions'),
    element('thead', null, element('tr', null, ['Mission', 'Title', 'Turns', 'Changed', 'Tokens written', 'Last'].map(h => element('th', {scope: 'col'}, h)))),
    element('tbody', null, index.missions.map(m => element('tr', null,
      element('th', {scope: 'row'}, element('a', {href: `#${m.id}`}, m.id)),
      element('td', null, visible(label(m))),
      element('td', {class: 'n'}, count.format(m.turns.length)),
      element('td', null, change(m.turns.reduce((a, t) => ({insertions: a.insertions + t.insertions, deletions: a.deletions + t.deletions}), {insertions: 0, deletions: 0}))),
      element('td', {class: 'n'}, short(m.turns.reduce((n, t) => n + t.output, 0))),
      element('td', null, time(m.turns.at(-1)?.at))))))))
}

function contains() {
  const turns = index.missions.reduce((n, m) => n + m.turns.length, 0)
  const words = [`${plural(index.missions.length, 'mission')} with ${plural(turns, 'turn')}, made ${date(index.made)}.`, index.contains]
  byId('contains').textContent = visible(words.filter(Boolean).join(' '))
}

async function begin() {
  showTheme(stored('theme') ?? 'auto')
  await readIndex()
  byId('home').textContent = visible(index.title)
  contains()
  showKeys()
  byId('open-search').addEventListener('click', openSearch)
  byId('open-help').addEventListener('click', () => byId('help').showModal())
  byId('theme').addEventListener('click', nextTheme)
  byId('query').addEventListener('input', find)
  byId('query').addEventListener('keydown', event => {
    if (event.key !== 'Enter') return
    event.preventDefault()
    byId('results').querySelector('a')?.click()
  })
  addEventListener('keydown', pressed)
  addEventListener('hashchange', go)
  addEventListener('resize', redraw)
  addEventListener('beforeprint', () => { printing = true; drawRows() })
  addEventListener('afterprint', () => { printing = false; drawRows() })
  const first = listed().find(m => m.turns.length)
  if (location.hash === '' && first) history.replaceState(null, '', `#${name(beginning(first))}`)
  await go()
  document.documentElement.dataset.ready = 'true'
}

begin().catch(error => {
  byId('main').replaceChildren(element('p', {class: 'warning'}, `This page can't be shown: ${error.message}`))
})
