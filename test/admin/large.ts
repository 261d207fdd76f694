/**
 * `npm run admin:large`: how long the admin page takes in Chromium with 1,000,000 records, 200 columns and 100 models. It
 * fails if something takes longer than 2 s; the figures in brackets are the app's own time of a processor. `FIELDGATE_RUNS=0.1` takes a tenth of the records. They are made by the first run,
 * in minutes, and kept in `.cache`.
 *
 * @module
 */

import { existsSync, mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'puppeteer-core'
import * as z from 'zod'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { admin } from '../../packages/admin/src/index.ts'
import { type App, createApp, createRouter, defineModel } from '../../src/index.ts'
import { runs } from '../runs.ts'
import { startChromium } from '../services/chromium.ts'
import { choose, field, found, opened, press, sees, visit, write } from './screens.ts'

const RECORDS = runs(1_000_000)
const BATCH = 5000
const COLUMNS = 200
const MODELS = 100
const MOST_MS = 2000

const KINDS = ['paid', 'open', 'void'] as const
const Sale = defineModel('Sale', {
  fields: {
    title: z.string().max(100),
    kind: z.enum(KINDS),
    amount: z.number(),
    at: z.date(),
  },
  indexes: ['title', 'amount', 'at', 'kind'],
})
const names = Array.from({ length: COLUMNS }, (_, at) => `column${at + 1}`)
const Wide = defineModel('Wide', {
  fields: Object.fromEntries(names.map((name) => [name, z.string().optional()])),
})

function large(path: string): App {
  const app = createApp({
    store: sqliteStore({ path }),
    logger: { debug() {}, info() {}, warn() {}, error: console.error },
  })
  app.mount(
    '/sales',
    createRouter({
      model: Sale,
      middlewares: [],
      search: ['title'],
      orderBy: 'title',
      filterableFields: ['kind', 'amount', 'at'],
      sortableFields: ['title', 'amount', 'at'],
      aggregates: { by: ['kind'], of: ['amount'] },
    }),
  )
  app.mount('/wide', createRouter({ model: Wide, middlewares: [], allowedFields: names }))
  for (let at = 1; at <= MODELS; at += 1) {
    const model = defineModel(`Thing${at}`, { fields: { name: z.string() } })
    app.mount(`/things-${at}`, createRouter({ model, middlewares: [] }))
  }
  return app.mount('/admin', admin({ title: 'Large' })) as unknown as App
}

async function filled(app: App): Promise<void> {
  const [sales, wide] = [app.store.collection(Sale), app.store.collection(Wide)]
  for (let from = 0; from < RECORDS; from += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, RECORDS - from) }, (_, at) => from + at)
    await Promise.all(
      numbers.map((at) =>
        sales.insert({
          title: `Sale ${String((at * 7919) % RECORDS).padStart(7, '0')}`,
          kind: KINDS[at % KINDS.length] ?? 'paid',
          amount: (at * 31) % 10_007,
          at: new Date(1_600_000_000_000 + at * 60_000),
        }),
      ),
    )
  }
  for (let at = 0; at < 100; at += 1) {
    await wide.insert(Object.fromEntries(names.map((name) => [name, `${name} of ${at}`])))
  }
}

/** What is measured: what the user does, and what then is there. */
const STEPS: readonly [string, (page: Page, base: string) => Promise<unknown>][] = [
  ['opens the list, with its count', (page) => sees(page, `${number(RECORDS)} records`)],
  ['goes to the next page', (page) => press(page, 'Next page').then(() => sees(page, 'Page 2 of'))],
  [
    'finds one by a search',
    (page) => write(page, 'Search Sales', '000123').then(() => sees(page, 'Sale 0001230')),
  ],
  [
    'ends the search',
    (page) => write(page, 'Search Sales', '').then(() => sees(page, `${number(RECORDS)} records`)),
  ],
  ['sorts', (page) => press(page, 'Amount').then(() => first(page, 'Amount', '0'))],
  [
    'filters',
    async (page) => {
      await press(page, 'Filters')
      await choose(page, 'Value', 'void')
      await sees(page, `${number(Math.floor(RECORDS / 3))} records`)
    },
  ],
  ['draws a chart', (page) => press(page, 'Chart').then(() => found(page, '.chart rect'))],
  [
    'goes to the last page by the address',
    async (page, base) => {
      await visit(page, base, `/sales?page=${Math.ceil(RECORDS / 25)}&perPage=25&filter={}`)
      await page.waitForFunction(() => document.querySelectorAll('tbody tr').length > 0)
      await sees(page, `Page ${number(Math.ceil(RECORDS / 25))} of`)
    },
  ],
  [
    'opens a list of 200 columns',
    (page, base) => visit(page, base, '/wide').then(() => sees(page, 'column1 of 0')),
  ],
  [
    'shows all 200',
    async (page) => {
      const chosen = JSON.stringify(names)
      await page.evaluate(
        (text) => localStorage.setItem('fieldgate-admin.columns.wide', text),
        chosen,
      )
      await page.reload()
      await sees(page, 'column200 of 0')
    },
  ],
  [
    'opens a form of 200 fields',
    async (page) => {
      await (await found(page, 'td a.name')).click()
      await field(page, 'Column200')
    },
  ],
  [
    'finds one of 102 models in the menu',
    async (page) => {
      await write(page, 'Find in the menu', 'Things 77')
      await (await found(page, 'nav a[href="#/things-77"]')).click()
      await sees(page, 'Nothing here yet.')
    },
  ],
]

function number(value: number): string {
  return value.toLocaleString('en', { useGrouping: 'min2' } as object)
}

async function first(page: Page, label: string, text: string): Promise<void> {
  await page.waitForFunction(
    (name, wanted) => document.querySelector(`td[data-label="${name}"]`)?.textContent === wanted,
    {},
    ...[label, text],
  )
}

const folder = fileURLToPath(new URL('../../.cache/admin/', import.meta.url))
mkdirSync(folder, { recursive: true })
const path = `${folder}large-${RECORDS}.db`
const isThere = existsSync(path)
const app = large(path)
if (!isThere) await filled(app)
const chromium = await startChromium()
try {
  const server = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
  // The page and the document are made with the first request.
  for (const at of ['', '/openapi.json']) await (await fetch(`${server.url}/admin${at}`)).text()
  const { page } = await opened(chromium, 'about:blank')
  let started = performance.now()
  let used = process.cpuUsage()
  await page.goto(`${server.url}/admin`)
  page.setDefaultTimeout(60_000)
  for (const [name, step] of STEPS) {
    await step(page, `${server.url}/admin`)
    const ms = Math.round(performance.now() - started)
    const { user, system } = process.cpuUsage(used)
    const own = `(${Math.round((user + system) / 1000)})`
    console.log(`${String(ms).padStart(6)} ms ${own.padStart(7)}  ${name}`)
    if (ms > MOST_MS) process.exitCode = 1
    started = performance.now()
    used = process.cpuUsage()
  }
  await server.close()
} finally {
  await chromium.stop()
  await app.close()
}
