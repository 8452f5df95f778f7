// Everything is made of nodes and texts here, and nothing is ever parsed as HTML: what is untrusted is text.

// element makes an element: props are attributes, but for functions, which are listeners.
function element(name, props, ...children) {
  const e = document.createElement(name)
  fill(e, props, children)
  return e
}

// drawing is element for SVG.
function drawing(name, props, ...children) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name)
  fill(e, props, children)
  return e
}

function fill(e, props, children) {
  for (const [key, value] of Object.entries(props ?? {})) {
    if (typeof value === 'function') e.addEventListener(key, value)
    else if (value === true) e.setAttribute(key, '')
    else if (value !== false && value != null) e.setAttribute(key, String(value))
  }
  for (const child of children.flat(Infinity)) if (child != null && child !== false) e.append(child)
}

function byId(id) { return document.getElementById(id) }

// announce tells those who don't see the page what has happened.
function announce(text) { byId('status').textContent = text }

// folded is a part that gets its content when it is opened for the first time.
function folded(summary, make, open) {
  let made = false
  const body = element('div', {class: 'body'})
  const show = () => {
    if (made) return
    made = true
    body.append(...[make()].flat(Infinity))
  }
  const details = element('details', {toggle: () => { if (details.open) show() }}, element('summary', null, summary), body)
  details.unfold = show
  if (open) {
    show()
    details.open = true
  }
  return details
}
