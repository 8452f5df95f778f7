// How numbers, times and names are said.

const count = new Intl.NumberFormat('en')

function plural(n, word) { return `${count.format(n)} ${word}${n === 1 ? '' : 's'}` }

// short is a number of tokens or lines in a few characters: 950, 12.3k, 1.2M.
function short(n) {
  if (n < 1000) return String(n)
  if (n < 999_500) return `${(n / 1000).toFixed(n < 99_950 ? 1 : 0)}k`
  return `${(n / 1e6).toFixed(1)}M`
}

function size(bytes) {
  if (bytes < 1000) return plural(bytes, 'byte')
  return bytes < 999_500 ? `${(bytes / 1000).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

function duration(ms) {
  if (ms < 1000) return `${ms} ms`
  const s = Math.round(ms / 1000)
  if (s < 60) return `${s}s`
  if (s < 3600) return `${Math.floor(s / 60)}m ${s % 60}s`
  return `${Math.floor(s / 3600)}h ${Math.floor(s % 3600 / 60)}m`
}

const dateFormat = new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', timeStyle: 'short'})

function date(ms) { return ms ? dateFormat.format(new Date(ms)) : '' }

function time(ms) { return ms ? element('time', {datetime: new Date(ms).toISOString()}, date(ms)) : null }

function changed(t) { return t.insertions + t.deletions > 0 }

// change says how many lines a turn added and removed.
function change(t) {
  return [element('ins', {class: 'n'}, `+${short(t.insertions)}`), ' ', element('del', {class: 'n'}, `-${short(t.deletions)}`)]
}

function outcome(t) { return element('span', {class: `outcome ${['done', 'interrupted', 'failed'].includes(t.outcome) ? t.outcome : 'other'}`}, t.outcome) }

// reviewer says who has looked at a turn, and all before it.
function reviewer(t) { return `reviewed by ${visible(t.mission.reviewed.by)}, ${date(t.mission.reviewed.at)}` }

// visible shows what no reader would see otherwise: characters that change the direction of text, and control characters.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

function visible(text) {
  return text.replace(hidden, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
