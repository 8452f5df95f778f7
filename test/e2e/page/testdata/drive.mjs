// Opens a page in headless Chromium and uses it as a person does. What is not as it should be ends the program with a line
// for each; else it prints one JSON object with what it measured.
//
//	node drive.mjs <modules> <chromium> <page.html> <directory for pictures> <what to expect, JSON>
import {createRequire} from 'node:module'
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {pathToFileURL} from 'node:url'

const [modules, executablePath, file, pictures, expected] = process.argv.slice(2)
const require = createRequire(join(modules, 'package.json'))
const {chromium} = require('playwright-core')
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
const want = JSON.parse(readFileSync(expected, 'utf8'))
const address = pathToFileURL(file).href

const wrong = []
function check(what, ok, detail) { if (!ok) wrong.push(detail === undefined ? what : `${what}: ${JSON.stringify(detail)}`) }

const browser = await chromium.launch({
  executablePath,
  timeout: 0,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
})

// open opens the page in a window of its own, and watches it.
async function open(hash, options = {}) {
  const context = await browser.newContext({viewport: {width: 1200, height: 800}, ...options})
  await context.addInitScript(() => {
    globalThis.firstPainted = new Promise(done => new PerformanceObserver((list, o) => { o.disconnect(); done(performance.now()) }).observe({type: 'paint', buffered: true}))
  })
  context.setDefaultTimeout(0) // a machine may be as slow as it likes
  context.setDefaultNavigationTimeout(0)
  const page = await context.newPage()
  page.on('console', m => { if (['error', 'warning'].includes(m.type())) check('console', false, m.text()) })
  page.on('pageerror', e => check('exception', false, String(e)))
  page.on('dialog', d => { check('dialog', false, d.message()); d.dismiss() })
  page.on('request', r => { if (!r.url().startsWith(address.split('#')[0])) check('request', false, r.url()) })
  page.on('popup', p => check('popup', false, p.url()))
  const began = Date.now()
  await page.goto(address + (hash ? '#' + hash : ''))
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'true')
  page.opened = Date.now() - began
  return page
}

const text = (page, selector) => page.locator(selector).first().innerText()
const settled = page => page.waitForFunction(() => !document.querySelector('main')?.textContent.includes('Opening...'))
async function go(page, hash) {
  await page.evaluate(h => { location.hash = h }, hash)
  await page.waitForFunction(h => decodeURIComponent(location.hash.slice(1)) === h, hash)
  await settled(page)
}

// at waits until a turn is shown: the address changes before the page does.
async function at(page, turn) {
  await page.waitForFunction(h => location.hash === h && document.querySelector('main .turn-head h2 a')?.getAttribute('href') === h, '#' + turn)
  await settled(page)
}

// accessible runs axe over what is shown.
async function accessible(page, what) {
  await page.evaluate(axe)
  const {violations} = await page.evaluate(() => globalThis.axe.run(document, {resultTypes: ['violations']}))
  for (const v of violations) {
    if (['serious', 'critical', 'moderate'].includes(v.impact)) check(`accessibility of ${what}`, false, [v.id, v.impact, v.nodes.slice(0, 3).map(n => n.html.slice(0, 200))])
  }
}

const measured = {}

const scenarios = {
  async opens() {
    const page = await open('')
    measured.opened = page.opened
    await at(page, want.begin)
    check('title', (await text(page, '#home')).includes(want.title), await text(page, '#home'))
    check('what it contains', (await text(page, '#contains')).includes(want.contains), await text(page, '#contains'))
    check('missions in the tree', await page.locator('#missions .tree a').count() === want.missions, await page.locator('#missions .tree a').count())
    check('forks are below what they come from', await page.locator('#missions .tree ul a').count() === want.forks)
    await accessible(page, 'the turn to begin with')
    await page.locator('#home').click()
    await page.waitForFunction(() => document.querySelector('main .overview'))
    await accessible(page, 'the overview')
    await page.context().close()
  },

  // What somebody has reviewed is marked, and the page opens after it; the keyboard goes on from there.
  async reviewed() {
    const page = await open('')
    await at(page, want.begin)
    const ticks = await page.locator('#timeline .rows a.reviewed [role=img]').evaluateAll(list => list.map(e => e.getAttribute('aria-label')))
    check('ticks', ticks.length === want.reviewed && ticks.every(t => t.startsWith(want.reviewer)), ticks)
    await accessible(page, 'a mission that is reviewed')
    await page.screenshot({path: join(pictures, `reviewed-${want.reviewed}.png`)})
    const head = () => text(page, 'main .turn-head .facts')
    for (let n = want.turns; n >= 1; n--) {
      await go(page, `${want.mission}/${n}`)
      await at(page, `${want.mission}/${n}`)
      check(`the head of turn ${n}`, (await head()).includes(want.reviewer) === n <= want.reviewed, await head())
    }
    await page.keyboard.press('j')
    await at(page, `${want.mission}/2`)
    await go(page, want.mission)
    await page.waitForFunction(() => document.querySelector('main .welcome'))
    check('where to begin', (await text(page, 'main .welcome a')) === want.begin)
    await page.context().close()
  },

  async turns() {
    const page = await open(want.mission)
    const rows = page.locator('#timeline .rows a')
    check('rows', await rows.count() === want.turns, await rows.count())
    check('a curve of the context', await page.locator('svg.curve polyline').count() === 1)
    await rows.nth(want.row).click()
    await settled(page)
    for (const line of want.shown) check('a turn shows', (await page.locator('main').innerText()).includes(line), line)
    for (const line of want.folded) check('a turn folds', !(await page.locator('main').innerText()).includes(line), line)
    await page.getByRole('button', {name: 'Unfold'}).click()
    for (const line of want.folded) check('a turn unfolds', (await page.locator('main').innerText()).includes(line), line)
    check('unified', await page.locator('.diff table.unified').count() > 0)
    await page.getByRole('button', {name: 'Side by side'}).first().click()
    check('side by side', await page.locator('.diff table.split').count() > 0 && await page.locator('.diff table.unified').count() === 0)
    await accessible(page, 'a turn, side by side')
    await page.keyboard.press('d')
    check('unified again', await page.locator('.diff table.split').count() === 0)
    await accessible(page, 'a turn')
    await page.getByRole('link', {name: 'Next', exact: true}).click()
    await at(page, want.next)
    await page.context().close()
  },

  async keys() {
    const page = await open(want.mission)
    await page.keyboard.press('j')
    await at(page, want.first)
    await page.keyboard.press('j')
    await at(page, want.second)
    await page.evaluate(() => { for (const key of 'kjkj') dispatchEvent(new KeyboardEvent('keydown', {key})) }) // typed fast
    await at(page, want.second)
    await page.evaluate(() => { for (const key of 'jk') dispatchEvent(new KeyboardEvent('keydown', {key})) })
    await at(page, want.second)
    await page.keyboard.press('k')
    await at(page, want.first)
    await page.keyboard.press('?')
    check('help', await page.locator('#help').isVisible())
    await accessible(page, 'the help')
    await page.keyboard.press('Escape')
    check('no help', !await page.locator('#help').isVisible())
    await page.keyboard.press('/')
    await page.keyboard.type(want.word)
    await page.waitForFunction(() => document.querySelectorAll('#results li').length > 0)
    await page.waitForFunction(n => document.querySelector('#found').textContent === n, want.found)
    await accessible(page, 'search')
    await page.keyboard.press('Enter')
    await at(page, want.hit)
    check('search is closed', !await page.locator('#search').isVisible())
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme)
    const before = await theme()
    await page.keyboard.press('t')
    check('colours', await theme() !== before)
    await page.locator('#timeline .rows a').first().focus()
    await page.keyboard.press('Enter')
    await at(page, want.first)
    await page.context().close()
  },

  async compares() {
    for (const c of want.comparisons) {
      const page = await open(c.a)
      await settled(page)
      await page.getByRole('button', {name: 'Compare', exact: true}).click()
      await go(page, c.b)
      await page.getByRole('button', {name: `Compare with ${c.a}`}).click()
      await page.waitForFunction(h => location.hash === '#' + h, `compare/${c.a}/${c.b}`)
      await page.waitForFunction(() => document.querySelector('.comparison'))
      for (const d of await page.locator('main .files details').all()) if (await d.getAttribute('open') === null) await d.locator('summary').click()
      await page.waitForFunction(() => [...document.querySelectorAll('main .files > details > .body')].every(b => b.childElementCount > 0))
      const files = await page.evaluate(() => [...document.querySelectorAll('main .files > details')].map(d => ({
        path: d.querySelector('.path').textContent,
        lines: [...d.querySelectorAll('tr:not(.hunk) td.line')].map(td => (td.classList.contains('ins') ? '+' : td.classList.contains('del') ? '-' : td.classList.contains('note') ? '\\' : ' ') +
          [...td.childNodes].filter(n => !n.classList?.contains('unseen')).map(n => n.textContent).join('').replace('\u200b', '')),
      })))
      check(`comparison of ${c.a} and ${c.b}`, JSON.stringify(files) === JSON.stringify(c.files), {got: files, want: c.files})
      await accessible(page, 'a comparison')
      await page.context().close()
    }
  },

  async pictures() {
    for (const colorScheme of ['light', 'dark']) {
      for (const width of [400, 1200, 2000]) {
        for (const [name, hash] of [['all', ''], ['mission', want.mission], ['turn', want.first], ['compare', want.comparisons[0] && `compare/${want.comparisons[0].a}/${want.comparisons[0].b}`]]) {
          if (hash === undefined) continue
          const page = await open(hash, {viewport: {width, height: 900}, colorScheme})
          await settled(page)
          if (name === 'all') await page.locator('#home').click()
          if (name === 'turn') await page.getByRole('button', {name: 'Unfold'}).click()
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          check(`${name} at ${width} is wider than the screen`, over <= 0, over)
          await page.screenshot({path: join(pictures, `${name}-${width}-${colorScheme}.png`)})
          await accessible(page, `${name} at ${width}, ${colorScheme}`)
          await page.context().close()
        }
      }
    }
    // Those of the README.
    const c = want.comparisons[0]
    for (const [name, hash, colorScheme] of [['readme-turn', want.first, 'light'], ['readme-compare', `compare/${c.a}/${c.b}`, 'dark']]) {
      const page = await open(hash, {viewport: {width: 1200, height: 720}, colorScheme})
      await settled(page)
      await page.screenshot({path: join(pictures, `${name}.png`)})
      await page.context().close()
    }
    const page = await open(want.first)
    await settled(page)
    await page.pdf({path: join(pictures, 'turn.pdf')})
    await go(page, want.mission)
    await page.pdf({path: join(pictures, 'mission.pdf')})
    await page.context().close()
  },

  // Every turn of a page that strangers made is looked at, with everything unfolded.
  async hostile() {
    const page = await open('')
    const all = await page.evaluate(() => [...document.querySelectorAll('#missions .tree a')].map(a => a.getAttribute('href').slice(1)))
    let turns = 0
    for (const m of all) {
      await go(page, m)
      const n = await page.evaluate(() => Number(document.querySelector('#timeline .rows li')?.getAttribute('aria-setsize') ?? 0))
      for (let i = 0; i < n; i++) {
        await page.keyboard.press('j')
        await at(page, `${m}/${i + 1}`)
        await page.evaluate(() => { for (let k = 0; k < 4; k++) for (const d of document.querySelectorAll('main details')) { d.unfold?.(); d.open = true } })
        const bad = await page.evaluate(() => [...document.querySelectorAll('main :is(script, iframe, object, embed, img, link, form, input, style, meta, base, svg:not(.curve), video, audio, area, map)')].map(e => e.outerHTML.slice(0, 100)))
        check('elements that nobody made', bad.length === 0, bad)
        const links = await page.evaluate(() => [...document.querySelectorAll('main a')].map(a => a.getAttribute('href')).filter(h => !/^(#|https?:)/i.test(h)))
        check('links that run something', links.length === 0, links)
        if (want.foreign) check('a stranger is not marked', await page.locator('main .warning').count() === 1)
        turns++
      }
    }
    measured.looked = turns
    await page.keyboard.press('/')
    for (const word of ['<img', 'script', 'javascript:', want.word]) {
      await page.locator('#query').fill(word)
      await page.waitForFunction(() => / turns?$/.test(document.querySelector('#found').textContent))
    }
    check('something has run', !await page.evaluate(() => 'hacked' in globalThis || document.title === 'hacked' || document.cookie !== ''))
    await page.context().close()
  },

  // What is left out is nowhere in the file, and the page says so.
  async parts() {
    const page = await open('')
    const all = await page.evaluate(async () => {
      const texts = []
      for (const e of document.querySelectorAll('script[type="application/octet-stream"]')) {
        const bytes = Uint8Array.from(atob(e.textContent), c => c.charCodeAt(0))
        texts.push(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).text())
      }
      return texts.join('\n')
    })
    for (const text of want.has) check('the file has', all.includes(text), text)
    for (const text of want.lacks) check('the file lacks', !all.includes(text), text)
    check('what it contains', (await text(page, '#contains')).includes(want.contains), await text(page, '#contains'))
    await go(page, want.first)
    await accessible(page, 'a turn without some parts')
    await page.context().close()
  },

  async large() {
    const page = await open(want.mission)
    measured.opened = page.opened
    measured.painted = Math.round(await page.evaluate(() => globalThis.firstPainted))
    const rows = () => page.locator('#timeline .rows li').count()
    check('few rows are elements', await rows() < 100, await rows())
    // Frames while it scrolls through all of it.
    measured.frames = await page.evaluate(() => new Promise(done => {
      const box = document.querySelector('#timeline .scroll'), times = []
      let last = performance.now(), at = 0
      const next = now => {
        times.push(now - last)
        last = now
        at += box.scrollHeight / 120
        box.scrollTop = at
        if (at < box.scrollHeight) requestAnimationFrame(next)
        else done({median: times.sort((a, b) => a - b)[times.length >> 1], worst: times.at(-1)})
      }
      requestAnimationFrame(next)
    }))
    const began = Date.now()
    await go(page, want.last)
    measured.turn = Date.now() - began
    const searched = Date.now()
    await page.keyboard.press('/')
    await page.locator('#query').fill(want.word)
    await page.waitForFunction(n => document.querySelector('#found').textContent.startsWith(n), want.found)
    measured.search = Date.now() - searched
    await page.screenshot({path: join(pictures, 'large.png')})
    await page.context().close()
  },
}

for (const name of want.scenarios) {
  try {
    await scenarios[name]()
  } catch (e) {
    check(`scenario ${name}`, false, String(e?.stack ?? e).slice(0, 1500))
  }
}
await browser.close()
if (wrong.length) {
  for (const line of [...new Set(wrong)].slice(0, 60)) console.error(line)
  process.exit(1)
}
console.log(JSON.stringify(measured))
