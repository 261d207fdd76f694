/**
 * Random programmes of rules, on any store.
 *
 * @module
 */

import { describe, it, onTestFinished } from 'vitest'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import { Random } from '../../../extras/contract/store/random.ts'
import { receiver } from '../../background/receiver.ts'
import type { Database } from '../../changes/served.ts'
import { seeds } from '../../runs.ts'
import { HOOK_SECRET, type Hook } from './app.ts'
import { FollowingTrial } from './following.ts'

const TIMEOUT_MS = 120_000

/**
 * Registers runs on the store with this name: `requests` of them send requests, `lists` follow live lists. Their programmes
 * are those after the `after`th.
 */
export function rightsOn(
  store: string,
  database: Database,
  { requests, lists, after = 0 }: { requests: number; lists: number; after?: number },
): void {
  const programmes = (count: number) => seeds(count).map((seed) => seed + after)
  const begin = async (seed: number, hooks: readonly Hook[] = []): Promise<FollowingTrial> =>
    FollowingTrial.begin(new Random(seed * 7919), {
      ...{ open: await database(), cache: memoryCache(), hooks, ids: new Map() },
    })

  describe(`random rights, on ${store}`, () => {
    it.each(programmes(requests))(
      'each door keeps the rules (%i)',
      async (seed) => {
        const trial = await begin(seed)
        for (let count = 0; count < 25; count += 1) {
          await trial.step()
          await trial.checkRequests()
          if (count % 8 === 7) await trial.deploy()
        }
        trial.end('one', 'one refused', 'history')
      },
      TIMEOUT_MS,
    )

    it.each(programmes(lists))(
      'live lists keep them, over breaks and other versions of the app (%i)',
      async (seed) => {
        const trial = await begin(seed + 1000)
        for (let count = 0; count < 60; count += 1) {
          await trial.follow()
          await trial.follow()
          await trial.step()
          await trial.checkFollowed()
          if (count % 4 === 3) await trial.checkBreak()
          if (count % 10 === 9) await trial.deploy()
          await trial.checkFollowed()
        }
        trial.end('followed', 'deploy')
      },
      TIMEOUT_MS,
    )

    it.each(programmes(lists))(
      'webhooks tell those for whom they are what they may see (%i)',
      async (seed) => {
        const hooks = await hooksFor(['anyone', 'ann', 'bob'])
        const trial = await begin(seed + 2000, hooks)
        await trial.checkHooks(hooks)
        for (let count = 0; count < 40; count += 1) {
          for (let steps = 0; steps < 3; steps += 1) await trial.step()
          if (count % 6 === 5) await trial.deploy()
          await trial.checkHooks(hooks)
          await trial.checkTools()
        }
        trial.end('hook for an account: true', 'tools')
      },
      TIMEOUT_MS,
    )
  })
}

async function hooksFor(names: readonly string[]): Promise<readonly Hook[]> {
  const all = names.map(async (name) => {
    const one = await receiver(HOOK_SECRET)
    onTestFinished(() => one.stop())
    return { name, receiver: one }
  })
  return Promise.all(all)
}
