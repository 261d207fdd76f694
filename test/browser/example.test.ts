import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { atlas } from '../../examples/atlas/app.ts'
import { City, Country } from '../../examples/atlas/models.ts'
import { type Chromium, startChromium } from '../services/chromium.ts'
import { withService } from '../services/shared.ts'

const SECRET = 'a secret of at least 32 characters, for tests'

/** The atlas with one country and some cities, and the example's page at its root. */
async function served() {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, '../../examples/browser.ts')],
    bundle: true,
    format: 'esm',
    write: false,
    conditions: ['fieldgate-source'],
  })
  const script = outputFiles[0]?.text ?? ''
  const app = atlas({ store: sqliteStore(), secret: SECRET }).use((request) => {
    const { pathname } = new URL(request.url)
    if (pathname !== '/') return undefined
    const html = `<!doctype html><link rel="icon" href="data:,"><body></body><script type="module">${script}</script>`
    return new Response(html, { headers: { 'Content-Type': 'text/html; charset=utf-8' } })
  })
  const place = { capital: false, latitude: 0, longitude: 0 }
  const texts = { officialName: '', region: 'Europe', subregion: '', emoji: '' } as const
  const lists = { capitals: [], languages: [], currencies: [] }
  const country = await app.store
    .collection(Country)
    .insert({ code: 'NO', name: 'Norway', ...texts, ...lists })
  const cities = app.store.collection(City)
  for (const [name, population] of [
    ['Oslo', 580_000],
    ['Bergen', 213_585],
    ['Osen', 1_000],
  ] as const) {
    await cities.insert({ name, population, country: country._id, ...place })
  }
  return serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
}

await withService('chromium', () => {
  let chromium: Chromium
  let server: Awaited<ReturnType<typeof served>>
  beforeAll(async () => {
    server = await served()
    chromium = await startChromium()
  })
  afterAll(async () => {
    await chromium?.stop()
    await server?.close()
  })

  it('examples/browser.ts finds cities of the atlas while one types', async () => {
    const { page, problems } = await chromium.open(server.url)
    await page.type('input', 'os')
    await page.waitForFunction(() => document.querySelector('ul')?.textContent === 'Oslo, 580,000')
    await page.click('li')
    await page.waitForFunction(() => document.querySelector('output')?.textContent !== '')
    expect(await page.$eval('output', ({ textContent }) => textContent)).toBe('Oslo is in Norway')
    expect(problems).toEqual([])
  })
})
