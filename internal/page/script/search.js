// Search, as one types, in all that the page has. The packets are opened one after the other, once.

const maxFound = 200
const texts = [] // for each turn: the turn, and what is said in it, piece by piece
let reading // of all packets
let asked = 0 // how often a search has begun: an older one ends

function openSearch() {
  const dialog = byId('search')
  if (!dialog.open) dialog.showModal()
  byId('query').focus()
  byId('query').select()
  reading ??= readTexts()
}

async function readTexts() {
  const byPacket = new Map()
  for (const m of index.missions) {
    for (const t of m.turns) {
      if (t.as && turn(...t.as.split('/'))) continue // its own mission has it
      if (!byPacket.has(t.packet)) byPacket.set(t.packet, [])
      byPacket.get(t.packet).push(t)
    }
  }
  for (const [number, list] of byPacket) {
    const {turns} = await unpack(`packet-${number}`)
    for (const t of list) texts.push({turn: t, pieces: pieces(turns[key(t)])})
    byId('search').dispatchEvent(new Event('read'))
  }
  texts.complete = true
  byId('search').dispatchEvent(new Event('read'))
}

// pieces are what is said and done in a turn: where, and the text.
function pieces(d) {
  const list = [['prompt', d.prompt ?? ''], ['reply', plain(d.reply)]]
  const add = steps => {
    for (const s of steps ?? []) {
      if (s.tree) list.push(['said', plain(s.tree)])
      if (s.text) list.push([s.kind, s.text])
      if (s.kind === 'call') list.push(['tool', `${s.name} ${s.input ?? ''}`])
      if (s.result?.text) list.push(['result', s.result.text])
    }
  }
  add(d.steps)
  for (const a of d.agents ?? []) add(a.steps)
  for (const f of d.files ?? []) list.push(['file', f.path])
  return list.filter(([, text]) => text)
}

async function find() {
  const mine = ++asked
  const words = byId('query').value.toLowerCase().split(/\s+/).filter(Boolean)
  const results = byId('results'), found = byId('found')
  results.replaceChildren()
  if (words.length === 0) {
    found.textContent = ''
    return
  }
  let hits = 0
  for (let i = 0; ; i++) {
    if (i === texts.length) {
      if (texts.complete) break
      found.textContent = `${plural(hits, 'turn')} so far`
      await new Promise(done => byId('search').addEventListener('read', done, {once: true}))
      if (mine !== asked) return
      i--
      continue
    }
    if (i % 200 === 199) {
      await new Promise(done => setTimeout(done))
      if (mine !== asked) return
    }
    const hit = matching(texts[i], words)
    if (!hit) continue
    if (++hits <= maxFound) results.append(resultItem(texts[i].turn, hit, words))
  }
  found.textContent = hits > maxFound ? `${plural(hits, 'turn')}, the first ${maxFound} are shown` : plural(hits, 'turn')
}

// matching is the piece of a turn that has the first word, if the turn has all.
function matching(text, words) {
  let first
  for (const word of words) {
    const piece = text.pieces.find(([, t]) => t.toLowerCase().includes(word))
    if (!piece) return null
    first ??= piece
  }
  return first
}

function resultItem(t, [place, text], words) {
  const at = text.toLowerCase().indexOf(words[0])
  const from = Math.max(0, at - 60)
  const snippet = text.slice(from, at + words[0].length + 100).replace(/\s+/g, ' ')
  return element('li', null, element('a', {href: `#${name(t)}`, click: () => byId('search').close()},
    element('span', {class: 'number'}, name(t)), ' ', element('span', {class: 'words'}, visible(t.prompt)),
    element('span', {class: 'snippet'}, element('b', null, place), ' ', from ? '...' : '', highlighted(snippet, words))))
}

function highlighted(text, words) {
  const list = [], lower = text.toLowerCase()
  if (lower.length !== text.length) return visible(text)
  for (let i = 0; i < text.length;) {
    const next = words.map(w => [lower.indexOf(w, i), w.length]).filter(([at]) => at >= 0).sort((a, b) => a[0] - b[0])[0]
    if (!next) {
      list.push(visible(text.slice(i)))
      break
    }
    list.push(visible(text.slice(i, next[0])), element('mark', null, visible(text.slice(next[0], next[0] + next[1]))))
    i = next[0] + next[1]
  }
  return list
}
