// What the page holds: an index, which is read at once, and packets, which are opened when they are needed.
// Each is JSON, compressed with DEFLATE and written in base64, in a script element that no browser runs.

async function unpack(id) {
  const packed = byId(id)
  if (!packed) throw new Error(`this page lacks its part ${id}`)
  const binary = atob(packed.textContent.trim())
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  return JSON.parse(await new Response(stream).text())
}

// maxOpen is how many packets stay open: each has about a megabyte.
const maxOpen = 24
const opened = new Map() // by number, the one used last is last

function packet(number) {
  let p = opened.get(number)
  opened.delete(number)
  p ??= unpack(`packet-${number}`)
  opened.set(number, p)
  for (const old of opened.keys()) {
    if (opened.size <= maxOpen) break
    opened.delete(old)
  }
  return p
}

let index // missions, with a line for each of their turns
const missions = new Map() // by id

async function readIndex() {
  index = await unpack('index')
  for (const m of index.missions) {
    m.forks = []
    m.byNumber = new Map()
    m.turns.forEach((t, i) => {
      t.mission = m
      t.place = i
      m.byNumber.set(t.number, t)
    })
    missions.set(m.id, m)
  }
  for (const m of index.missions) {
    const parent = m.parent && missions.get(m.parent.mission)
    if (parent && parent !== m) parent.forks.push(m)
  }
}

// turn finds a turn by the words of its name, a1b2c3d4/12.
function turn(mission, number) { return missions.get(mission)?.byNumber.get(Number(number)) }

function name(t) { return `${t.mission.id}/${t.number}` }

// reviewed tells whether somebody has looked at a turn.
function reviewed(t) { return t.number <= t.mission.reviewed?.turn }

// key is the name that its details have: a fork has inherited those of its first turns.
function key(t) { return t.as ?? name(t) }

// detail is all that the page has of a turn.
async function detail(t) { return (await packet(t.packet)).turns[key(t)] }
