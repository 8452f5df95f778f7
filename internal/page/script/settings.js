// What a reader has chosen. A browser may keep nothing for a file: then it is forgotten.

function stored(key) {
  try {
    return localStorage.getItem(`git-agent.${key}`)
  } catch {
    return null
  }
}

function store(key, value) {
  try {
    localStorage.setItem(`git-agent.${key}`, value)
  } catch { /* forgotten */ }
}

const themes = {auto: 'system', light: 'light', dark: 'dark'}

function showTheme(theme) {
  if (!(theme in themes)) theme = 'auto'
  document.documentElement.dataset.theme = theme
  const label = `Theme: ${themes[theme]}`
  byId('theme').replaceChildren(label, ' ', element('kbd', null, 't'))
  byId('theme').setAttribute('aria-label', label)
  store('theme', theme)
}

function nextTheme() {
  const names = Object.keys(themes)
  showTheme(names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length])
}
