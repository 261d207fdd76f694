/**
 * Concurrent reads and writes while every call of the cache takes its time, before and after it is done.
 *
 * @module
 */

import { describe, expect, it } from 'vitest'
import { runs } from '../../runs.ts'
import { faultyCache } from '../faulty.ts'
import { notLinearizable, type Operation, stale } from './register.ts'
import { type Plan, run } from './run.ts'

/** How many histories run at the same time. */
const BATCH = 25

interface Outcome {
  readonly broken: readonly string[]
  readonly hits: number
  readonly operations: number
}

async function check(
  count: number,
  plan: (seed: number) => Plan,
  verdict: (history: readonly Operation[]) => string | undefined,
): Promise<Outcome> {
  const broken: string[] = []
  let hits = 0
  let operations = 0
  for (let first = 1; first <= count; first += BATCH) {
    const seeds = Array.from({ length: Math.min(BATCH, count - first + 1) }, (_, at) => first + at)
    const seen = await Promise.all(seeds.map((seed) => run(plan(seed))))
    for (const [at, one] of seen.entries()) {
      hits += one.hits
      for (const history of one.histories) {
        operations += history.length
        const problem = verdict(history)
        if (problem) broken.push(`seed ${seeds[at]}: ${problem}`)
      }
    }
  }
  console.log(`${count} histories, ${operations} operations, ${hits} answers from the cache`)
  return { broken, hits, operations }
}

describe('histories of concurrent reads and writes', { timeout: 300_000 }, () => {
  it('are linearizable in one instance', async () => {
    const plan = (seed: number): Plan => ({ seed, apps: 1, cache: faultyCache() })
    const { broken, hits } = await check(runs(40), plan, notLinearizable)
    expect(broken).toEqual([])
    expect(hits).toBeGreaterThan(runs(40))
  })

  it('are linearizable in one instance while the cache comes and goes', async () => {
    const faults = ['down', 'hanging', 'full', 'garbage'] as const
    const plan = (seed: number): Plan => {
      return { seed, apps: 1, cache: faultyCache(), faults, timeoutMs: 60 }
    }
    const { broken, hits } = await check(runs(15), plan, notLinearizable)
    expect(broken).toEqual([])
    expect(hits).toBeGreaterThan(runs(2))
  })

  it('show two instances nothing older than an answered write', async () => {
    const plan = (seed: number): Plan => ({ seed, apps: 2, cache: faultyCache() })
    const { broken, hits } = await check(runs(15), plan, stale)
    expect(broken).toEqual([])
    expect(hits).toBeGreaterThan(runs(30))
  })

  it('show two instances nothing older while the cache comes and goes', async () => {
    const faults = ['down', 'hanging', 'full', 'garbage'] as const
    const plan = (seed: number): Plan => {
      return { seed, apps: 2, cache: faultyCache(), faults, timeoutMs: 60 }
    }
    const { broken } = await check(runs(10), plan, stale)
    expect(broken).toEqual([])
  })

  it('are found out when a write does not replace the version', async () => {
    const plan = (seed: number): Plan => {
      const cache = faultyCache()
      const versions = new Set<string>()
      const { set } = cache
      cache.set = async (key, value, ttl) => {
        // The first version of a model stays for ever.
        const isVersion = key.startsWith('cs:v')
        if (isVersion && (versions.has(key) || !value.startsWith('v'))) return undefined
        if (isVersion) versions.add(key)
        return set(key, value, ttl)
      }
      return { seed, apps: 1, cache }
    }
    expect((await check(20, plan, stale)).broken.length).toBeGreaterThan(0)
  })
})
