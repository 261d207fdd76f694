import { afterAll, beforeAll, expect, it } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { atlas } from '../../examples/atlas/app.ts'
import { City, Country } from '../../examples/atlas/models.ts'
import { type Chromium, startChromium } from '../services/chromium.ts'
import { withService } from '../services/shared.ts'

const SECRET = 'a secret of at least 32 characters, for tests'

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

  it("the atlas's page draws the inhabitants of each region, the most first", async () => {
    const { page, problems } = await chromium.open(server.url)
    await page.waitForSelector('figure:not([hidden])')
    const rows = await page.$$eval('tr', (all) =>
      all.map((row) => [
        row.querySelector('th')?.textContent,
        row.querySelector('rect')?.getAttribute('width'),
        row.cells[2]?.textContent,
      ]),
    )
    expect(rows).toEqual([
      ['Asia', '100%', '4,000,000'],
      ['Europe', '75%', '3,000,000'],
    ])
    expect(problems).toEqual([])
  })
})

async function served() {
  const app = atlas({ store: sqliteStore(), secret: SECRET })
  const place = { capital: false, latitude: 0, longitude: 0 }
  const texts = { officialName: '', subregion: '', emoji: '' }
  const lists = { capitals: [], languages: [], currencies: [] }
  for (const [code, region, populations] of [
    ['NO', 'Europe', [1_000_000, 500_000]],
    ['PT', 'Europe', [1_500_000]],
    ['JP', 'Asia', [4_000_000]],
  ] as const) {
    const values = { code, name: code, region, ...texts, ...lists }
    const { _id: country } = await app.store.collection(Country).insert(values)
    for (const population of populations) {
      await app.store.collection(City).insert({ name: code, population, country, ...place })
    }
  }
  return serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
}
