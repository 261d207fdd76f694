/**
 * The tables of the pages and the charts, out of `results/`.
 *
 * @module
 */

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  MAIN,
  type Measured,
  overviewChart,
  type Results,
  storeChart,
  WORKS,
} from './charts/stores.ts'
import { scaleLines } from './scale/table.ts'
import { median, ratioOf } from './table.ts'

const STORES = { sqlite: 'SQLite', postgres: 'PostgreSQL', mongodb: 'MongoDB' }
const GROWTH = {
  read: 'read by id',
  'list-20': 'list of 20',
  list: 'filtered list of 50',
  sort: 'sorted list of 50',
  search: 'search',
  'cursor-first': 'first page by cursor',
  'cursor-page': 'last page by cursor',
  create: 'create',
}

/** What has to be said of a server's figures, by work and server. */
const NOTES: Readonly<Record<string, string>> = {
  'create PocketBase': ", which doesn't wait for the disk",
}

const root = new URL('../', import.meta.url)

/** A page that has a table of figures, or a chart. */
export interface Page {
  readonly path: string
  /** The page as it is. */
  readonly text: string
  /** The page with the figures of `results/`. */
  readonly current: string
}

/** The pages with tables of figures, README.md and two of docs, and the charts in docs/charts. */
export function pagesWithFigures(): Page[] {
  const stores = measuredStores()
  const beside = {
    '| | fieldgate on Node |': [
      '| | fieldgate on Node | limit | others |',
      '|---|---|---|---|',
      ...rates(),
    ],
  }
  return [
    pageWith('README.md', beside),
    pageWith('docs/comparison.md', beside),
    pageWith('docs/speed.md', {
      '| | SQLite |': growth(),
      '| scale |': scaleLines(),
      '![': stores.map(({ name, label }) => `![Chart of ${label}](charts/${name}.svg)`),
    }),
    ...charts(stores),
  ]
}

/** The page with other lines in each block that begins with the given words. */
function pageWith(name: string, blocks: Readonly<Record<string, readonly string[]>>): Page {
  const path = fileURLToPath(new URL(name, root))
  const text = readFileSync(path, 'utf8')
  const page = text.split('\n')
  for (const [begin, lines] of Object.entries(blocks)) {
    const from = page.findIndex((line) => line.startsWith(begin))
    if (from < 0) throw new Error(`${name} has no line that begins with ${begin}`)
    const [mark = ''] = begin
    const end = page.findIndex((line, at) => at > from && !line.startsWith(mark))
    page.splice(from, end - from, ...lines)
  }
  return { path, text, current: page.join('\n') }
}

/** Requests per second of fieldgate, the limit and the peers. */
function rates(): string[] {
  return Object.entries(STORES).flatMap(([store, label]) => {
    const measured = rowsOf(store)
    return MAIN.flatMap((work) => {
      const ofWork = measured.filter((row) => row.work === work)
      if (ofWork.length === 0) return []
      const figures = (name: string) =>
        ofWork
          .filter(({ server }) => server === name)
          .map(rateOf)
          .join(' · ')
      const servers = [...new Set(ofWork.map(({ server }) => server))]
      const others = servers
        .filter((name) => name !== 'limit' && !name.startsWith('fieldgate'))
        .map(
          (name) =>
            `${name.replace('+', ' with ')} ${figures(name)}${NOTES[`${work} ${name}`] ?? ''}`,
        )
      return `| ${label}: ${WORKS[work]} | ${figures('fieldgate')} | ${figures('limit')} | ${others.join(', ')} |`
    })
  })
}

function rateOf({ samples }: Measured): string {
  const rate = median(samples.map(({ requestsPerSecond }) => requestsPerSecond))
  return Math.round(rate).toLocaleString('en-US')
}

/** The head and the rows of the table of growth: a column for each store that was measured. */
function growth(): string[] {
  const measured = Object.entries(STORES)
    .map(([store, label]) => ({ label, rows: rowsOf(`growth-${store}`) }))
    .filter(({ rows }) => rows.length > 0)
  const lines = Object.entries(GROWTH).map(([work, what]) => {
    const cells = measured.map(({ rows }) => ratiosOf(rows.filter((row) => row.work === work)))
    return `| ${what} | ${cells.join(' | ')} |`
  })
  const labels = measured.map(({ label }) => label)
  return [`| | ${labels.join(' | ')} |`, `|---|${'---|'.repeat(labels.length)}`, ...lines]
}

/** The larger sizes' ratios to the smallest, over one connection. */
function ratiosOf(rows: readonly Measured[]): string {
  const [least, ...larger] = rows.filter(({ connections }) => connections === 1)
  if (!least) return '–'
  return larger.map(({ samples }) => ratioOf(samples, least.samples).toFixed(2)).join(' · ')
}

/** What a run wrote down; nothing where none did. A sample that is not known is null in the file. */
function resultsOf(name: string): Results | undefined {
  const file = new URL(`bench/results/${name}.json`, root)
  if (!existsSync(file)) return undefined
  const known = (_name: string, value: unknown) => (value === null ? Number.NaN : value)
  return JSON.parse(readFileSync(file, 'utf8'), known) as Results
}

function rowsOf(name: string): readonly Measured[] {
  return resultsOf(name)?.rows ?? []
}

interface MeasuredStore {
  readonly name: string
  readonly label: string
  readonly results: Results
}

function measuredStores(): MeasuredStore[] {
  return Object.entries({ ...STORES, d1: 'Workers with D1' }).flatMap(([name, label]) => {
    const results = resultsOf(name)
    return results ? [{ name, label, results }] : []
  })
}

/** A chart for each store, and one of the databases together. */
function charts(stores: readonly MeasuredStore[]): Page[] {
  return [
    chartAt('overview', overviewChart(stores.filter(({ name }) => name in STORES))),
    ...stores.map(({ name, label, results }) => chartAt(name, storeChart(label, results))),
  ]
}

function chartAt(name: string, current: string): Page {
  const path = fileURLToPath(new URL(`docs/charts/${name}.svg`, root))
  return { path, text: existsSync(path) ? readFileSync(path, 'utf8') : '', current }
}
