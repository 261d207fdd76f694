/**
 * The tables of the pages, out of `results/`.
 *
 * @module
 */

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Sample } from './sample.ts'
import { median, ratioOf } from './table.ts'

interface Measured {
  readonly work: string
  readonly connections: number
  readonly server: string
  readonly samples: readonly Sample[]
}

const STORES = { sqlite: 'SQLite', postgres: 'PostgreSQL', mongodb: 'MongoDB' }
const RATES = { read: 'read by id', list: 'filtered list of 50', create: 'create' }
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

/** A page that has a table of figures. */
export interface Page {
  readonly path: string
  /** The page as it is. */
  readonly text: string
  /** The page with the figures of `results/`. */
  readonly current: string
}

/** The pages with tables of figures: README.md and docs/speed.md. */
export function pagesWithFigures(): Page[] {
  return [
    pageWith(
      'README.md',
      ['| | fieldgate on Node | limit | others |', '|---|---|---|---|'],
      rates(),
    ),
    pageWith('docs/speed.md', ...growth()),
  ]
}

/** The page with `lines` as the rows of the table whose head begins as `head` does. */
function pageWith(name: string, head: readonly string[], lines: readonly string[]): Page {
  const path = fileURLToPath(new URL(name, root))
  const text = readFileSync(path, 'utf8')
  const page = text.split('\n')
  const [begin = ''] = /^\|[^|]*\|[^|]*\|/.exec(head[0] ?? '') ?? []
  const from = page.findIndex((line) => line.startsWith(begin))
  if (from < 0) throw new Error(`${name} has no table that begins with ${begin}`)
  const end = page.findIndex((line, at) => at > from && !line.startsWith('|'))
  page.splice(from, end - from, ...head, ...lines)
  return { path, text, current: page.join('\n') }
}

/** Requests per second of fieldgate, the limit and the peers. */
function rates(): string[] {
  return Object.entries(STORES).flatMap(([store, label]) => {
    const measured = resultsOf(store)
    return Object.entries(RATES).flatMap(([work, what]) => {
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
      return `| ${label}: ${what} | ${figures('fieldgate')} | ${figures('limit')} | ${others.join(', ')} |`
    })
  })
}

function rateOf({ samples }: Measured): string {
  const rate = median(samples.map(({ requestsPerSecond }) => requestsPerSecond))
  return Math.round(rate).toLocaleString('en-US')
}

/** The head and the rows of the table of growth: a column for each store that was measured. */
function growth(): [string[], string[]] {
  const measured = Object.entries(STORES)
    .map(([store, label]) => ({ label, rows: resultsOf(`growth-${store}`) }))
    .filter(({ rows }) => rows.length > 0)
  const lines = Object.entries(GROWTH).map(([work, what]) => {
    const cells = measured.map(({ rows }) => ratiosOf(rows.filter((row) => row.work === work)))
    return `| ${what} | ${cells.join(' | ')} |`
  })
  const labels = measured.map(({ label }) => label)
  return [[`| | ${labels.join(' | ')} |`, `|---|${'---|'.repeat(labels.length)}`], lines]
}

/** The larger sizes' ratios to the smallest, over one connection. */
function ratiosOf(rows: readonly Measured[]): string {
  const [least, ...larger] = rows.filter(({ connections }) => connections === 1)
  if (!least) return '–'
  return larger.map(({ samples }) => ratioOf(samples, least.samples).toFixed(2)).join(' · ')
}

/** What a run wrote down; nothing where none did. A sample that is not known is null in the file. */
function resultsOf(name: string): readonly Measured[] {
  const file = new URL(`bench/results/${name}.json`, root)
  if (!existsSync(file)) return []
  const known = (_name: string, value: unknown) => (value === null ? Number.NaN : value)
  const { rows } = JSON.parse(readFileSync(file, 'utf8'), known) as { rows: readonly Measured[] }
  return rows
}
