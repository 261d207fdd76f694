/**
 * `npm run pictures`: the pictures of the atlas in README.md, taken in Chromium with all countries and cities.
 *
 * @module
 */

import { mkdirSync } from 'node:fs'
import { serve } from '../adapters/runtimes/node.ts'
import { sqliteStore } from '../adapters/stores/sqlite/node.ts'
import { atlas } from '../examples/atlas/app.ts'
import { seed } from '../examples/atlas/seed.ts'
import { world } from '../examples/atlas/source.ts'
import { startChromium } from '../test/services/chromium.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const app = atlas({ store: sqliteStore(), secret: crypto.randomUUID(), logger: silent })
const { countries, cities } = world(undefined)
await seed(app, { countries, cities })
const server = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
const chromium = await startChromium({ isWhole: true })
const folder = 'docs/pictures'
mkdirSync(folder, { recursive: true })
try {
  const { page } = await chromium.open()
  await page.setViewport({ width: 1200, height: 760 })
  await page.goto(server.url)
  await page.waitForSelector('figure:not([hidden])')
  await page.screenshot({ path: `${folder}/atlas.webp`, quality: 80 })
  await page.goto(`${server.url}/docs#tag/cities/GET/cities`)
  await page.waitForSelector('::-p-xpath(//button[contains(., "Test Request")])')
  await page.waitForNetworkIdle()
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  await page.screenshot({ path: `${folder}/reference.webp`, quality: 80 })
} finally {
  await chromium.stop()
  await server.close()
}
