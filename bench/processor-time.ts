/**
 * What variants of an app cost a request, in processor time.
 *
 * Each variant is a process of its own that serves one request after the other, without a network. Rounds take the variants in turn;
 * what is printed is the least of the rounds, which nothing else has disturbed, and their median.
 *
 * @module
 */

import { execFileSync } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const WARM = 20_000
const REQUESTS = 60_000
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7)

/** Sends a request and waits until it is served. */
export type Send = () => Promise<void>

/**
 * Compares variants, each a function that starts one; the program at `url`, which calls this, is started again for each.
 */
export async function compare(
  url: string,
  variants: Readonly<Record<string, () => Send | Promise<Send>>>,
): Promise<void> {
  const [chosen] = process.argv.slice(2)
  const start = variants[chosen ?? '']
  if (start) {
    console.log(await measured(await start()))
    process.exit()
  }
  const names = Object.keys(variants)
  const seen = new Map(names.map((name) => [name, [] as number[]]))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const args = [...process.execArgv, '--no-warnings', fileURLToPath(url), name]
      seen.get(name)?.push(Number(execFileSync(process.execPath, args, { encoding: 'utf8' })))
    }
  }
  for (const [name, values] of seen) {
    const [least, middle] = [Math.min(...values), median(values)]
    console.log(`${name.padEnd(28)} ${least.toFixed(1)} µs, median ${middle.toFixed(1)} µs`)
  }
}

/** Microseconds of processor time that a request takes. */
async function measured(send: Send): Promise<number> {
  const ask = async (times: number) => {
    for (let at = 0; at < times; at += 1) await send()
  }
  await ask(WARM)
  const before = process.cpuUsage()
  await ask(REQUESTS)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / REQUESTS
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
