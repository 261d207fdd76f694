/**
 * The charts of the results: one of each store, and one of the main works on all stores.
 *
 * @module
 */

import type { ColdStart } from '../cold-start.ts'
import { addedOf, type Sample, slowdownOf } from '../sample.ts'
import { median } from '../table.ts'
import type { Group, Lane, Panel } from './panel.ts'
import { chart } from './svg.ts'

/** The part of a results file that is drawn. */
export interface Results {
  readonly machine: { readonly cores: number; readonly model: string }
  readonly settings: { readonly rounds: number; readonly size: number }
  readonly rows: readonly Measured[]
  readonly starts: readonly ColdStart[]
}

/** The samples of a server in one work. */
export interface Measured {
  readonly work: string
  readonly connections: number
  readonly server: string
  readonly samples: readonly Sample[]
}

/** The works in the words of readers, in the order of the charts. */
export const WORKS: Readonly<Record<string, string>> = {
  read: 'read by id',
  list: 'filtered list of 50',
  'list-identical': 'the same list each time',
  'list-totals': 'filtered list with totals',
  'list-totals-writes': 'the same, with 1 create in 100 requests',
  'offset-page': 'last page by number',
  'cursor-first': 'first page by cursor',
  'cursor-page': 'last page by cursor',
  create: 'create',
  patch: 'PATCH of one field',
  mixed: '9 reads to 1 create',
  search: 'search for a rare word',
  'search-word': 'search for a word in 1 of 12 records',
  'search-letters': 'search for two letters',
  'search-none': 'search for two characters, no record found',
  'search-accented': 'search for a word with diacritics',
  'search-related': 'search through a reference',
  hot: 'cached read, beside a constant response',
  'not-modified': '304, beside a constant response',
  constant: 'constant response',
  'sign-in': 'sign in with a password',
  token: 'read the account of an access token',
  'first-seconds': 'read by id, first 5 seconds of a process',
  'beside-offset': 'while two clients request the last page',
  'beside-letters': 'while two clients search for two letters',
  'last-of-200': 'from the last of 200 models, compared with one',
}

const RATES = "Requests per second, relative to the limit's (more is better)"

/** The works of the overview, and of the README's table. */
export const MAIN = ['read', 'list', 'create']

/** The chart of a store, with a panel for each kind of measure. */
export function storeChart(label: string, results: Results): string {
  const works = groupsOf(results.rows)
  const rates = works.filter(({ rows }) => rows.every(({ samples }) => !isBurdened(samples)))
  const isSearch = ({ work }: WorkRows) => work.startsWith('search')
  const panels: Panel[] = [
    ratePanel(
      RATES,
      rates.filter((work) => !isSearch(work)),
    ),
    // Apart from the others: what an index gains would make their scale too coarse.
    ratePanel('Searches (more is better)', rates.filter(isSearch)),
    {
      title: 'Median read by id, × when alone (less is better)',
      unit: '×',
      scale: 'log',
      groups: groupsBy(works, slowdownOf, (value) => value.toFixed(1)),
    },
    {
      title: 'CPU time added to a read by id, µs (less is better)',
      unit: 'µs',
      scale: 'linear',
      groups: groupsBy(works, addedOf, (value) => value.toFixed(1)),
    },
    {
      title: 'First response of a new process, ms (less is better)',
      unit: 'ms',
      scale: 'linear',
      groups: startsOf(results.starts),
    },
  ]
  return chart(
    { title: label, notes: notesOf(results) },
    panels.filter(({ groups }) => groups.length > 0),
  )
}

/** The chart of the main works on every store. */
export function overviewChart(stores: readonly { label: string; results: Results }[]): string {
  const panels = stores.map(({ label, results }) => {
    const works = groupsOf(results.rows).filter(({ work }) => MAIN.includes(work))
    return ratePanel(label, works.map(onNode))
  })
  const [first] = stores
  return chart(
    {
      title: "Requests per second, relative to the limit's",
      notes: first ? notesOf(first.results) : [],
    },
    panels,
  )
}

function notesOf({ machine, settings }: Results): string[] {
  const size = settings.size.toLocaleString('en-US')
  return [
    `${size} records, 16 connections, ${machine.cores} cores (${machine.model.trim()}).`,
    `A mark is the median of ${settings.rounds} rounds, its line goes from the least to the most.`,
  ]
}

interface WorkRows {
  readonly work: string
  readonly rows: readonly Measured[]
}

/** The rows of each work that was measured, at its largest number of connections. */
function groupsOf(rows: readonly Measured[]): WorkRows[] {
  const unnamed = rows.find(({ work }) => WORKS[work] === undefined)
  if (unnamed) throw new Error(`the charts have no words for the work ${unnamed.work}`)
  return Object.keys(WORKS).flatMap((work) => {
    const ofWork = rows.filter((row) => row.work === work && row.samples.some(isKnown))
    const most = Math.max(...ofWork.map(({ connections }) => connections))
    const shown = ofWork.filter(({ connections }) => connections === most)
    return shown.length > 0 ? [{ work, rows: shown }] : []
  })
}

/** Requests per second, as multiples of the limit's median. */
function ratePanel(title: string, works: readonly WorkRows[]): Panel {
  const groups = works.map(({ work, rows }) => {
    const limit = rows.find(({ server }) => server === 'limit')?.samples ?? []
    const base = median(limit.map(({ requestsPerSecond }) => requestsPerSecond))
    const lanes = rows.map(({ server, samples }) => {
      const rates = samples.map(({ requestsPerSecond }) => requestsPerSecond)
      const shown = laneOf(
        server,
        rates.map((rate) => rate / base),
      )
      return { ...shown, text: significant(median(rates)) }
    })
    return { heading: WORKS[work] ?? work, lanes }
  })
  return { title, unit: 'req/s', scale: 'log', groups }
}

function groupsBy(
  works: readonly WorkRows[],
  measure: (sample: Sample) => number,
  told: (value: number) => string,
): Group[] {
  return works.flatMap(({ work, rows }) => {
    const lanes = rows
      .map(({ server, samples }) => laneOf(server, samples.map(measure), told))
      .filter((lane) => !Number.isNaN(lane.median))
    return lanes.length > 0 ? [{ heading: WORKS[work] ?? work, lanes }] : []
  })
}

function startsOf(starts: readonly ColdStart[]): Group[] {
  const lanes = starts.map(({ server, milliseconds }) =>
    laneOf(server, milliseconds, (value) => value.toFixed(0)),
  )
  return lanes.length > 0 ? [{ heading: 'cold start', lanes }] : []
}

function laneOf(
  server: string,
  values: readonly number[],
  told: (value: number) => string = String,
): Lane {
  const known = values.filter((value) => !Number.isNaN(value))
  const middle = median(known)
  return {
    server: server.replace('+', ' with '),
    median: middle,
    least: Math.min(...known),
    most: Math.max(...known),
    text: told(middle),
  }
}

/** A work without the servers that are fieldgate on another runtime. */
function onNode({ work, rows }: WorkRows): WorkRows {
  return { work, rows: rows.filter(({ server }) => !server.startsWith('fieldgate on')) }
}

function isKnown({ requestsPerSecond }: Sample): boolean {
  return !Number.isNaN(requestsPerSecond)
}

function isBurdened(samples: readonly Sample[]): boolean {
  return samples.some(({ unburdened }) => unburdened !== undefined)
}

function significant(value: number): string {
  const rounded = value < 100 ? Math.round(value * 10) / 10 : Math.round(value)
  return rounded.toLocaleString('en-US')
}
