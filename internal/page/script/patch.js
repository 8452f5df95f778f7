// Patches as git writes them, without the lines before the first hunk.

// hunks reads a patch: for each hunk where it begins, and its lines, which begin with ' ', '-', '+' or '\'.
function hunks(patch) {
  const list = []
  let hunk
  for (const line of lines(patch)) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/s.exec(line)
    if (head) list.push(hunk = {old: Number(head[1]), oldCount: Number(head[2] ?? 1), new: Number(head[3]), context: head[5], lines: []})
    else if (hunk) hunk.lines.push(line)
  }
  return list
}

// lines splits a text at its newlines; a newline at the end begins no line.
function lines(text) {
  if (text === '') return []
  const list = text.split('\n')
  if (list.at(-1) === '') list.pop()
  return list
}

const noNewline = '\\ No newline at end of file'

// patched is the text that a patch makes of another.
function patched(text, patch) {
  const from = lines(text), to = []
  let at = 0, newline = true // whether the last line of to ends with one
  const copy = until => {
    for (; at < until && at < from.length; at++) {
      to.push(from[at])
      newline = at < from.length - 1 || text.endsWith('\n')
    }
  }
  for (const hunk of hunks(patch)) {
    copy(hunk.oldCount ? hunk.old - 1 : hunk.old)
    let last
    for (const line of hunk.lines) {
      if (line[0] === '\\') {
        if (last !== '-') newline = false
        continue
      }
      last = line[0]
      if (last !== '+') at++
      if (last === '-') continue
      to.push(line.slice(1))
      newline = true
    }
  }
  copy(from.length)
  return to.join('\n') + (to.length && newline ? '\n' : '')
}
