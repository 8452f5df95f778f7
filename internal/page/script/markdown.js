// Markdown comes as a tree: a text, or an array of a tag and what is in it. See markdown.go, which makes it.
// What is not in this table is shown as its text.

const marks = {
  p: 'p', h: 'h4', ul: 'ul', li: 'li', q: 'blockquote', c: 'code', em: 'em', st: 'strong', de: 'del',
  hr: 'hr', br: 'br', tr: 'tr', th: 'th', td: 'td',
}

function markdown(tree) { return (tree ?? []).map(node => marked(node, 0)) }

function marked(node, depth) {
  if (typeof node === 'string') return visible(node)
  if (!Array.isArray(node) || depth > 100) return ''
  const [tag, ...rest] = node
  const inner = from => rest.slice(from).map(child => marked(child, depth + 1))
  switch (tag) {
    case 'pre':
      return element('pre', {tabindex: 0, 'aria-label': 'Code'}, element('code', null, visible(String(rest[1] ?? ''))))
    case 'ol':
      return element('ol', {start: Number(rest[0]) || 1}, inner(1))
    case 'tb':
      return element('div', {class: 'wide', tabindex: 0, role: 'group', 'aria-label': 'Table'}, element('table', null, inner(0)))
    case 'a':
      return link(String(rest[0]), inner(1))
    case 'x':
      return element('span', {class: 'task', role: 'img', 'aria-label': rest[0] ? 'done' : 'not done'}, rest[0] ? '\u2611 ' : '\u2610 ')
    case 'h':
      return element(`h${Math.min(6, 3 + (Number(rest[0]) || 1))}`, null, inner(1))
    default:
      return Object.hasOwn(marks, tag) ? element(marks[tag], null, inner(0)) : inner(0)
  }
}

// link shows where it leads, since a text can claim anything, and leads there only when a person follows it.
function link(target, text) {
  if (!/^https?:\/\//i.test(target)) return [text, text.join('') === target ? '' : ` (${visible(target)})`]
  const a = element('a', {href: target, rel: 'noopener noreferrer nofollow', target: '_blank'}, text)
  return a.textContent === target ? a : [a, ` (${visible(target)})`]
}

// plain is the text of a tree, for search.
function plain(tree) { return (tree ?? []).map(said).join('') }

function said(node) {
  if (typeof node === 'string') return node
  if (!Array.isArray(node)) return ''
  const inner = plain(node.slice(node[0] === 'pre' ? 2 : 1))
  return ['p', 'h', 'li', 'tr', 'td', 'th'].includes(node[0]) ? `${inner} ` : inner
}
