/**
 * What the command line and the environment say of a run.
 *
 * @module
 */

import { parseArgs } from 'node:util'
import type { StoreName } from './servers.ts'

const STORES: readonly StoreName[] = ['sqlite', 'mongodb', 'postgres', 'd1']

/** How a run is made. */
export interface Settings {
  readonly stores: readonly StoreName[]
  /** Names of works; none means all. */
  readonly works: readonly string[]
  /** Names of servers beside the limit; none means all. */
  readonly servers: readonly string[]
  readonly rounds: number
  readonly seconds: number
  readonly size: number
  readonly connections: readonly number[]
  /** The commit that this tree is compared with, instead of other servers. */
  readonly against?: string
}

/** What is usual where two commits are compared: each row needs many rounds. */
const AGAINST = { store: 'sqlite', rounds: '6', connections: '16' }
const USUAL = { store: STORES.join(','), rounds: '3', connections: '1,16' }

/**
 * Reads them. `--store`, `--server`, `--rounds`, `--seconds`, `--size` and `--connections`, or `BENCH_…`; `--against`; `--rows`,
 * or the works without it.
 */
export function readSettings(args: readonly string[], size = 200_000): Settings {
  const usual = args.some((arg) => arg.startsWith('--against')) ? AGAINST : USUAL
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      store: { type: 'string', default: process.env.BENCH_STORE ?? usual.store },
      server: { type: 'string', default: process.env.BENCH_SERVER ?? '' },
      rounds: { type: 'string', default: process.env.BENCH_ROUNDS ?? usual.rounds },
      seconds: { type: 'string', default: process.env.BENCH_SECONDS ?? '2' },
      size: { type: 'string', default: process.env.BENCH_SIZE ?? String(size) },
      connections: { type: 'string', default: process.env.BENCH_CONNECTIONS ?? usual.connections },
      against: { type: 'string' },
      rows: { type: 'string', default: '' },
    },
  })
  return {
    stores: listOf(values.store).map(storeOf),
    works: [...positionals, ...listOf(values.rows)],
    servers: listOf(values.server),
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    size: Number(values.size),
    connections: listOf(values.connections).map(Number),
    ...(values.against !== undefined && { against: values.against }),
  }
}

function listOf(text: string): string[] {
  return text.split(',').filter((part) => part !== '')
}

function storeOf(name: string): StoreName {
  const known = STORES.find((store) => store === name)
  if (known === undefined) throw new Error(`no store is named ${name}: ${STORES.join(', ')}`)
  return known
}
