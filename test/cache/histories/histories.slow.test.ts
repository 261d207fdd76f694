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

/** The seeds of a batch: up to `count`, and further ones after it. */
function seedsFrom(first: number, count: number): readonly number[] {
  const length = first > count ? BATCH : Math.min(BATCH, count - first + 1)
  return Array.from({ length }, (_, at) => first + at)
}

async function check(
  count: number,
  plan: (seed: number) => Plan,
  verdict: (history: readonly Operation[]) => string | undefined,
  leastHits = 0,
): Promise<Outcome> {
  const broken: string[] = []
  let hits = 0
  let operations = 0
  // On a busy machine much is too late for the cache: then more histories show as much of it.
  for (let first = 1; first <= count || hits < leastHits; first += BATCH) {
    const seeds = seedsFrom(first, count)
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
    const { broken, hits } = await check(runs(40), plan, notLinearizable, runs(40) + 1)
    expect(broken).toEqual([])
    expect(hits).toBeGreaterThan(runs(40))
  })

  it('are linearizable in one instance while the cache comes and goes', async () => {
    const faults = ['down', 'hanging', 'full', 'garbage'] as const
    const plan = (seed: number): Plan => {
      return { seed, apps: 1, cache: faultyCache(), faults, timeoutMs: 60 }
    }
    const { broken, hits } = await check(runs(15), plan, notLinearizable, runs(2) + 1)
    expect(broken).toEqual([])
    expect(hits).toBeGreaterThan(runs(2))
  })

  it('show two instances nothing older than an answered write', async () => {
    const plan = (seed: number): Plan => ({ seed, apps: 2, cache: faultyCache() })
    const { broken, hits } = await check(runs(15), plan, stale, runs(30) + 1)
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
