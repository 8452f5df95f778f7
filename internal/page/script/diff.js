// Diffs of files, unified or side by side.

let sideBySide = stored('diff') === 'split'
const maxShown = 2000 // lines of a file that are shown at once

// files shows what differs, a part for each file that opens.
function filesChanged(list, label) {
  const box = element('div', {class: 'files'})
  for (const f of list) box.append(fileChanged(f, list.length <= 3))
  return element('section', {'aria-label': label}, diffSwitch(), box)
}

function diffSwitch() {
  return element('button', {
    type: 'button', class: 'small split', 'aria-pressed': String(sideBySide), 'aria-keyshortcuts': 'd', click: switchDiffs,
  }, 'Side by side')
}

// switchDiffs shows all diffs the other way.
function switchDiffs() {
  sideBySide = !sideBySide
  store('diff', sideBySide ? 'split' : 'unified')
  for (const b of document.querySelectorAll('button.split')) b.setAttribute('aria-pressed', String(sideBySide))
  for (const d of document.querySelectorAll('.diff')) d.redraw()
  announce(sideBySide ? 'Diffs are side by side' : 'Diffs are unified')
}

const kinds = {A: 'added', D: 'deleted', M: 'changed', T: 'of another type'}

function fileChanged(f, open) {
  const head = [
    element('span', {class: 'path'}, visible(f.path)), ' ',
    f.kind !== 'M' && kinds[f.kind] ? [element('span', {class: 'kind'}, kinds[f.kind]), ' '] : null,
    f.binary ? element('span', {class: 'kind'}, 'binary') : change(f),
  ]
  return folded(head, () => fileDiff(f), open && !f.binary && (f.patch ?? '').length < 40_000)
}

function fileDiff(f) {
  if (f.binary) return element('p', {class: 'note'}, 'A binary file: its content is not in this page.')
  if (f.left) return element('p', {class: 'note'}, `Left out of this page: ${f.left}.`)
  if (!f.patch) return element('p', {class: 'note'}, f.note ?? 'No line differs.')
  const box = element('div', {class: 'diff', tabindex: 0, role: 'group', 'aria-label': `Diff of ${visible(f.path)}`})
  let most = maxShown
  box.redraw = () => {
    const list = hunks(f.patch)
    box.replaceChildren(sideBySide ? split(list, most) : unified(list, most))
    const all = list.reduce((n, h) => n + h.lines.length, 0)
    if (all > most) {
      box.append(element('button', {type: 'button', class: 'small', click: () => { most = Infinity; box.redraw() }}, `Show all ${plural(all, 'line')}`))
    }
  }
  box.redraw()
  return box
}

const lineKinds = {'+': 'ins', '-': 'del', ' ': '', '\\': 'note'}
const spoken = {'+': 'added: ', '-': 'removed: '}

function cell(line) {
  const sign = line[0]
  return element('td', {class: `line ${lineKinds[sign] ?? ''}`},
    spoken[sign] ? element('span', {class: 'unseen'}, spoken[sign]) : null, visible(line.slice(1)) || '\u200b')
}

function number(n) { return element('td', {class: 'n', 'data-n': n ?? ''}) }

function unified(list, most) {
  const body = element('tbody')
  for (const h of list) {
    let [old, now] = [h.old, h.new]
    body.append(element('tr', {class: 'hunk'}, element('td', {class: 'n'}), element('td', {class: 'n'}), element('td', {class: 'line'}, `@@ ${visible(h.context)}`)))
    for (const line of h.lines) {
      if (most-- <= 0) return element('table', {role: 'presentation', class: 'unified'}, body)
      body.append(element('tr', null, number(line[0] === '+' || line[0] === '\\' ? null : old), number(line[0] === '-' || line[0] === '\\' ? null : now), cell(line)))
      if (line[0] === ' ' || line[0] === '-') old++
      if (line[0] === ' ' || line[0] === '+') now++
    }
  }
  return element('table', {role: 'presentation', class: 'unified'}, body)
}

function split(list, most) {
  const body = element('tbody')
  const empty = () => element('td', {class: 'line none'})
  const row = (old, left, now, right) => body.append(element('tr', null, number(old), left ? cell(left) : empty(), number(now), right ? cell(right) : empty()))
  for (const h of list) {
    let [old, now] = [h.old, h.new]
    body.append(element('tr', {class: 'hunk'}, element('td', {class: 'n'}), element('td', {class: 'line', colspan: 3}, `@@ ${visible(h.context)}`)))
    for (let i = 0; i < h.lines.length && most > 0;) {
      if (h.lines[i][0] === ' ') {
        row(old++, h.lines[i], now++, h.lines[i])
        i++
        most--
        continue
      }
      const removed = [], added = []
      for (; i < h.lines.length && h.lines[i][0] !== ' '; i++) {
        if (h.lines[i][0] === '-') removed.push(h.lines[i])
        if (h.lines[i][0] === '+') added.push(h.lines[i])
      }
      for (let k = 0; k < Math.max(removed.length, added.length); k++, most--) {
        row(removed[k] && old++, removed[k], added[k] && now++, added[k])
      }
    }
  }
  return element('table', {role: 'presentation', class: 'split'}, body)
}
