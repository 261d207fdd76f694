import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { everything } from '../../../src/ports/filter.ts'
import { type Store, StoreUnavailable } from '../../../src/ports/store.ts'
import { type ReplicaSet, startReplicaSet } from '../../services/replica-set.ts'
import { withService } from '../../services/shared.ts'
import { notes } from './notes.ts'

/** Each call of the port. */
function calls(store: Store): Record<string, () => Promise<unknown>> {
  const collection = store.collection(notes)
  const one = { op: 'eq', field: '_id', value: 'a' } as const
  return {
    prepare: () => store.prepare([notes]),
    find: () => collection.find({ filter: everything, sort: [], limit: 5 }),
    count: () => collection.count(everything),
    estimate: () => collection.estimate(),
    insert: () => collection.insert({ _id: crypto.randomUUID(), n: 1 }),
    update: () => collection.update(one, { increment: { n: 1 } }),
    updateMany: () => collection.updateMany(everything, { set: { n: 2 } }),
    delete: () => collection.delete(one),
  }
}

/** How each call ends while the database is gone. */
async function endings(store: Store): Promise<Record<string, string>> {
  const startedAt = performance.now()
  const answers = Object.entries(calls(store)).map(async ([name, call]) => {
    const error = await call().catch((reason: unknown) => reason)
    const seconds = (performance.now() - startedAt) / 1000
    const refused = error instanceof StoreUnavailable && error.cause instanceof Error
    return [name, refused && seconds < 5 ? 'refused in time' : `${error} after ${seconds} s`]
  })
  return Object.fromEntries(await Promise.all(answers))
}

/** Seconds until a write succeeds. */
async function secondsToRecover(store: Store): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    try {
      await calls(store).insert?.()
      return (performance.now() - startedAt) / 1000
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || performance.now() - startedAt > 30_000)
        throw error
    }
  }
}

await withService('mongod', () => {
  describe('a store whose database is gone', { timeout: 60_000 }, () => {
    let set: ReplicaSet
    let store: Store
    const allRefused = Object.fromEntries(
      Object.keys(calls(mongoStore({ url: 'mongodb://unused' }))).map((name) => [
        name,
        'refused in time',
      ]),
    )

    beforeAll(async () => {
      set = await startReplicaSet(1)
      store = mongoStore({ url: set.url })
      await store.prepare([notes])
    }, 60_000)
    afterAll(async () => {
      await store.close()
      await set.stop()
    })

    it('answers every call within five seconds when the database hangs, and recovers', async () => {
      const [member] = set.members
      member?.signal('SIGSTOP')
      expect(await endings(store)).toEqual(allRefused)
      member?.signal('SIGCONT')
      expect(await secondsToRecover(store)).toBeLessThan(20)
    })

    it('answers every call within five seconds when the database dies, and recovers', async () => {
      const [member] = set.members
      member?.signal('SIGKILL')
      expect(await endings(store)).toEqual(allRefused)
      const restarted = member?.restart()
      expect(await secondsToRecover(store)).toBeLessThan(20)
      await restarted
    })

    it('connects later when the database was down at first', async () => {
      const [member] = set.members
      member?.signal('SIGKILL')
      const early = mongoStore({ url: set.url })
      expect(await endings(early)).toEqual(allRefused)
      const restarted = member?.restart()
      expect(await secondsToRecover(early)).toBeLessThan(20)
      await restarted
      await early.close()
    })
  })
})
