/**
 * `npm run faults -- <part> [--option value]`: harms a running server in one way for a longer time than a test run has,
 * prints what it saw as a table, and ends with exit code 1 when a promise was broken. Without a part it lists them.
 *
 * @module
 */

import { parseArgs } from 'node:util'
import { type Part, type PartOptions, table } from './report.ts'

const parts: Readonly<Record<string, () => Promise<Part>>> = {
  kill: async () => (await import('./sqlite/kill.ts')).kill,
  disk: async () => (await import('./disk/full.ts')).disk,
  s3: async () => (await import('./uploads/weather.ts')).s3,
  cache: async () => (await import('./cache/trial.ts')).cache,
  mongodb: async () => (await import('./mongodb/weather.ts')).mongodb,
  postgres: async () => (await import('./postgres/rounds.ts')).postgres,
  'postgres-kills': async () => (await import('./postgres/kills.ts')).postgresKills,
  linearizability: async () => (await import('./linearizability/record.ts')).linearizability,
  batch: async () => (await import('./batch/kill.ts')).batch,
  soak: async () => (await import('./soak.ts')).soak,
  idempotency: async () => (await import('./guards/kill.ts')).idempotency,
  backfill: async () => (await import('./changes/backfill.ts')).backfill,
  tabs: async () => (await import('./tabs.ts')).tabs,
  'live-rules': async () => (await import('../records/live/part.ts')).liveRules,
  log: async () => (await import('../log/proof/part.ts')).log,
  overload: async () => (await import('./overload/run.ts')).overload,
}

const [name = '', ...rest] = process.argv.slice(2)
const chosen = parts[name]
if (chosen) await run(await chosen(), rest)
else await list()

async function run(part: Part, args: string[]): Promise<void> {
  const known = Object.keys(part.options).map((option) => [option, { type: 'string' }] as const)
  const { values } = parseArgs({ args, options: Object.fromEntries(known) })
  const given: PartOptions = Object.fromEntries(
    Object.entries(values).map(([option, value]) => {
      if (typeof part.options[option] !== 'number') return [option, String(value)]
      // A trial of no rounds would hold.
      if (!(Number(value) > 0)) throw new TypeError(`--${option} must be a number above 0`)
      return [option, Number(value)]
    }),
  )
  const startedAt = performance.now()
  const { rows, holds } = await part.run(given)
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
  console.log(`${part.about}, ${minutes} min\n\n${table(rows)}\n\n${holds ? 'held' : 'BROKEN'}`)
  process.exitCode = holds ? 0 : 1
}

/** Each part with its options and their defaults. */
async function list(): Promise<void> {
  console.log('npm run faults -- <part> [--option value]\n')
  for (const [name, load] of Object.entries(parts)) {
    const { about, options } = await load()
    const texts = Object.entries(options).map(([option, value]) => `--${option} ${value}`)
    console.log(`  ${name.padEnd(16)}${about}\n${' '.repeat(18)}${texts.join(' ')}`)
  }
  process.exitCode = name === '' ? 0 : 2
}
