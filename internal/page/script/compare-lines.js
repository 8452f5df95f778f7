// The shortest edit between two lists of lines, as Myers found it (An O(ND) Difference Algorithm, 1986). Where it would take
// too long, what lies between the common beginning and end is all replaced.

const maxEdits = 1000

// edits returns lines as in a patch: ' ', '-' or '+' and the line.
function edits(from, to) {
  let start = 0, fromEnd = from.length, toEnd = to.length
  while (start < fromEnd && start < toEnd && from[start] === to[start]) start++
  while (fromEnd > start && toEnd > start && from[fromEnd - 1] === to[toEnd - 1]) { fromEnd--; toEnd-- }
  return [
    ...from.slice(0, start).map(l => ' ' + l),
    ...between(from.slice(start, fromEnd), to.slice(start, toEnd)),
    ...from.slice(fromEnd).map(l => ' ' + l),
  ]
}

function between(from, to) {
  const n = from.length, m = to.length, reach = new Map([[1, 0]]), steps = []
  for (let d = 0; d <= Math.min(n + m, maxEdits); d++) {
    steps.push(new Map(reach))
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || k !== d && reach.get(k - 1) < reach.get(k + 1) ? reach.get(k + 1) : reach.get(k - 1) + 1
      while (x < n && x - k < m && from[x] === to[x - k]) x++
      reach.set(k, x)
      if (x >= n && x - k >= m) return path(from, to, steps)
    }
  }
  return [...from.map(l => '-' + l), ...to.map(l => '+' + l)]
}

function path(from, to, steps) {
  const list = []
  let x = from.length, y = to.length
  for (let d = steps.length - 1; d >= 0; d--) {
    const reach = steps[d], k = x - y
    const before = k === -d || k !== d && reach.get(k - 1) < reach.get(k + 1) ? k + 1 : k - 1
    const bx = d === 0 ? 0 : reach.get(before), by = d === 0 ? 0 : bx - before
    while (x > bx && y > by) { list.push(' ' + from[--x]); y-- }
    if (d > 0 && x > bx) list.push('-' + from[--x])
    else if (d > 0 && y > by) list.push('+' + to[--y])
  }
  return list.reverse()
}

const around = 3 // lines of context, as git shows them

// asPatch is what git would write for two texts, without its head.
function asPatch(before, after) {
  const mark = text => text === '' || text.endsWith('\n') ? lines(text) : [...lines(text).slice(0, -1), lines(text).at(-1) + '\n' + noNewline]
  const all = edits(mark(before), mark(after))
  const keep = new Uint8Array(all.length)
  all.forEach((l, i) => { if (l[0] !== ' ') keep.fill(1, Math.max(0, i - around), i + around + 1) })
  const out = []
  let old = 1, now = 1
  for (let i = 0; i < all.length;) {
    if (!keep[i]) { old++; now++; i++; continue }
    const part = []
    const [o, n] = [old, now]
    for (; i < all.length && keep[i]; i++) {
      part.push(all[i])
      if (all[i][0] !== '+') old++
      if (all[i][0] !== '-') now++
    }
    const [a, b] = [old - o, now - n]
    out.push(`@@ -${a ? o : o - 1},${a} +${b ? n : n - 1},${b} @@`, ...part)
  }
  return out.length ? out.join('\n') + '\n' : ''
}
