// How full the agent's context was after each turn, with its limits, compactions and handoffs.

const chart = {width: 400, height: 120, left: 44, right: 6, top: 12, bottom: 14} // pixels; the width is that of its place

function contextCurve(m, current, width) {
  chart.width = Math.max(200, width)
  const points = m.turns.filter(t => t.context > 0)
  if (points.length === 0) return null
  const limits = m.limits ?? []
  const highest = Math.max(...points.map(t => t.context), ...limits.map(l => l.tokens), 1)
  const wide = Math.max(m.turns.length - 1, 1)
  const x = place => chart.left + place / wide * (chart.width - chart.left - chart.right)
  const y = tokens => chart.height - chart.bottom - tokens / (highest * 1.05) * (chart.height - chart.top - chart.bottom)
  const few = sampled(points)
  const most = points.reduce((a, b) => a.context >= b.context ? a : b)
  const label = `Context after each turn: at most ${short(most.context)} tokens, after turn ${most.number}; ` +
    `${short(points.at(-1).context)} after the last. ${plural(m.turns.reduce((n, t) => n + t.compacted, 0), 'compaction')}, ${plural(m.handoffs.length, 'handoff')}.`
  const svg = drawing('svg', {viewBox: `0 0 ${chart.width} ${chart.height}`, role: 'img', 'aria-label': label, class: 'curve'})
  for (const part of [0, 0.5, 1]) {
    svg.append(drawing('line', {x1: chart.left, x2: chart.width - chart.right, y1: y(highest * part), y2: y(highest * part), class: 'grid'}))
    svg.append(drawing('text', {x: chart.left - 6, y: y(highest * part) + 4, 'text-anchor': 'end'}, short(Math.round(highest * part))))
  }
  for (const l of limits) {
    svg.append(drawing('line', {x1: chart.left, x2: chart.width - chart.right, y1: y(l.tokens), y2: y(l.tokens), class: 'limit'}, drawing('title', null, `${l.label}: ${count.format(l.tokens)} tokens`)))
    if (limits.every(other => other.tokens <= l.tokens || y(l.tokens) - y(other.tokens) > 13)) { // else the higher one's name is in its place
      svg.append(drawing('text', {x: chart.width - chart.right, y: y(l.tokens) - 3, 'text-anchor': 'end', class: 'limit'}, l.label))
    }
  }
  const line = few.map(t => `${x(t.place).toFixed(1)},${y(t.context).toFixed(1)}`)
  svg.append(drawing('polygon', {points: [`${x(few[0].place)},${y(0)}`, ...line, `${x(few.at(-1).place)},${y(0)}`].join(' '), class: 'area'}))
  svg.append(drawing('polyline', {points: line.join(' '), class: 'line'}))
  for (const t of m.turns) {
    if (t.compacted) svg.append(drawing('line', {x1: x(t.place), x2: x(t.place), y1: chart.top, y2: y(0), class: 'compaction'}, drawing('title', null, `compacted in turn ${t.number}`)))
  }
  for (const h of m.handoffs) {
    const at = m.byNumber.get(h.turn)
    if (at) svg.append(drawing('path', {d: `M${x(at.place)} ${y(0)} l-5 9 l10 0 z`, class: 'handoff'}, drawing('title', null, `handoff ${h.number} after turn ${h.turn}: ${visible(h.title)}`)))
  }
  if (current) svg.append(drawing('circle', {cx: x(current.place), cy: y(current.context), r: 4, class: 'here'}))
  svg.addEventListener('click', event => {
    const box = svg.getBoundingClientRect()
    const at = ((event.clientX - box.left) / box.width * chart.width - chart.left) / (chart.width - chart.left - chart.right) * wide
    const t = m.turns[Math.min(m.turns.length - 1, Math.max(0, Math.round(at)))]
    location.hash = name(t)
  })
  return element('figure', null, svg, element('figcaption', null, legend(m)))
}

function legend(m) {
  const words = ['tokens in the context after each turn']
  if (m.turns.some(t => t.compacted)) words.push('dashed: compacted')
  if (m.handoffs.length) words.push('triangle: handoff')
  return words.join('; ')
}

// sampled is as many points as the chart can show, of each stretch the lowest and the highest.
function sampled(points) {
  const most = 1000
  if (points.length <= most) return points
  const list = [], step = points.length / (most / 2)
  for (let i = 0; i < points.length; i += step) {
    const part = points.slice(Math.floor(i), Math.floor(i + step))
    if (part.length === 0) continue
    const low = part.reduce((a, b) => a.context <= b.context ? a : b), high = part.reduce((a, b) => a.context > b.context ? a : b)
    list.push(...(low.place <= high.place ? [low, high] : [high, low]))
  }
  return [...new Set([...list, points.at(-1)])]
}
