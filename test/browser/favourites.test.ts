import { join } from 'node:path'
import type { BrowserContext, Page } from 'puppeteer-core'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { atlas } from '../../examples/atlas/app.ts'
import { City, Country } from '../../examples/atlas/models.ts'
import { type Chromium, startChromium } from '../services/chromium.ts'
import { withService } from '../services/shared.ts'

const pictures = join(import.meta.dirname, '../../docs/pictures')
/** `SCREENSHOTS=1 vitest run test/browser/favourites.test.ts` makes the picture of docs/live-lists.md anew. */
const isTaken = process.env.SCREENSHOTS !== undefined

async function served() {
  const app = atlas({
    store: sqliteStore(),
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    secret: 'a secret of at least 32 characters, for tests',
  })
  const texts = { officialName: '', region: 'Europe', subregion: '', emoji: '' } as const
  const lists = { capitals: [], languages: [], currencies: [] }
  const country = await app.store
    .collection(Country)
    .insert({ code: 'NO', name: 'Norway', ...texts, ...lists })
  const place = { country: country._id, capital: false, latitude: 0, longitude: 0 }
  for (const [name, population] of [
    ['Oslo', 580_000],
    ['Bergen', 213_585],
  ] as const) {
    await app.store.collection(City).insert({ name, population, ...place })
  }
  return serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
}

/** What a window has of the list. */
const rowsOf = (page: Page) =>
  page.$$eval('li', (rows) =>
    rows.map((row) => [row.querySelector('b')?.textContent, row.querySelector('input')?.value]),
  )

/** Fills a form and sends it, in one evaluation: an event may redraw the page at any time. */
const send = (page: Page, form: string, values: Record<string, string>, button: string) =>
  page.evaluate(
    (where, given, selector) => {
      const element = document.querySelector(where)
      for (const [name, value] of Object.entries(given)) {
        const input = element?.querySelector<HTMLInputElement>(`input[aria-label="${name}"]`)
        if (input) input.value = value
      }
      element?.querySelector<HTMLButtonElement>(selector)?.click()
    },
    form,
    values,
    button,
  )

/** Takes the windows beside each other. */
async function take(pages: readonly Page[]): Promise<void> {
  const shots: Uint8Array[] = []
  for (const page of pages) {
    // Chromium draws the window in front.
    await page.bringToFront()
    shots.push(await page.screenshot())
  }
  const [width, height, gap] = [520, 460, 16]
  const background = '#a1a1aa'
  await sharp({
    create: { width: 2 * width + 3 * gap, height: height + 2 * gap, channels: 3, background },
  })
    .composite(
      shots.map((input, at) => ({
        input: Buffer.from(input),
        left: gap + at * (width + gap),
        top: gap,
      })),
    )
    .webp({ quality: 80 })
    .toFile(join(pictures, 'two-windows.webp'))
}

await withService('chromium', () => {
  let chromium: Chromium
  let server: Awaited<ReturnType<typeof served>>
  let context: BrowserContext
  beforeAll(async () => {
    server = await served()
    chromium = await startChromium()
    context = await chromium.user()
  })
  afterAll(async () => {
    await chromium?.stop()
    await server?.close()
  })

  it('favourites that one window changes change in the other', async () => {
    const url = `${server.url}/your-favourites`
    const { page: one, problems } = await chromium.open(url, context)
    const account = { Email: 'ann@example.com', Password: 'correct horse battery' }
    await one.waitForSelector('#account:not([hidden])')
    await send(one, '#account', account, '[value=register]')
    await one.waitForSelector('section:not([hidden])')
    await one.waitForSelector('#account', { hidden: true })
    const { page: other, problems: others } = await chromium.open(url, context)
    await other.waitForSelector('section:not([hidden])')
    const pages = [one, other]
    for (const page of pages) await page.setViewport({ width: 520, height: 460 })
    const both = (rows: string[][]) =>
      Promise.all(
        pages.map((page) => expect.poll(() => rowsOf(page), { interval: 50 }).toEqual(rows)),
      )

    await send(one, '#add', { 'A city': 'Oslo' }, 'button')
    await both([['Oslo', '']])
    await send(other, '#add', { 'A city': 'Bergen' }, 'button')
    await both([
      ['Bergen', ''],
      ['Oslo', ''],
    ])
    await send(other, 'li form', { Note: 'By the sea' }, 'button')
    await both([
      ['Bergen', 'By the sea'],
      ['Oslo', ''],
    ])
    if (isTaken) await take(pages)
    await send(one, 'li form', {}, '[type=button]')
    await both([['Oslo', '']])
    expect([...problems, ...others]).toEqual([])
  })
})
