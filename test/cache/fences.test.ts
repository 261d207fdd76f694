import { describe, expect, it, onTestFinished } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { fenceSchema, storedFences } from '../../src/cache/write-fences.ts'
import { ownTime } from '../own-time.ts'

const now = ownTime()

async function instances() {
  const store = sqliteStore()
  onTestFinished(() => store.close())
  await store.prepare([fenceSchema])
  const collection = store.collection(fenceSchema)
  return { one: storedFences(collection), other: storedFences(collection) }
}

describe('fences', () => {
  it('stand for every instance before the write is answered, until one takes them away', async () => {
    const { one, other } = await instances()
    expect((await other.standing()).size).toBe(0)
    await one.raise('books')
    const mark = (await other.standing()).get('books') ?? ''
    expect((await one.standing()).get('books')).toBe(mark)
    expect(await other.lower('books', 'another mark')).toBe(false)
    expect(await other.lower('books', mark)).toBe(true)
    expect((await other.standing()).size).toBe(0)
  })

  it('are not taken away on account of what was known before a later write', async () => {
    const { one, other } = await instances()
    await one.raise('books')
    const mark = (await other.standing()).get('books') ?? ''
    // The other instance is about to lower it, while a write that could not tell the cache either is answered.
    await one.raise('books')
    expect(await other.lower('books', mark)).toBe(false)
    expect((await other.standing()).has('books')).toBe(true)
  })

  it('cost the writes of an outage no more than the first one', async () => {
    const { one, other } = await instances()
    await one.raise('books')
    const start = now()
    for (let turn = 0; turn < 20; turn += 1) {
      await Promise.all([one.raise('books'), one.raise('books'), one.raise('books')])
    }
    // Each that waited anew would take 300 ms.
    expect(now() - start).toBeLessThan(3000)
    expect((await other.standing()).size).toBe(1)
  })

  it('let a write go on whose fence was raised by a request that Workers have ended', async () => {
    const { one, other } = await instances()
    const { setTimeout: standing } = globalThis
    // The timers of a request end with it.
    const ended = (work: () => void, ms?: number) => (ms === 300 ? 0 : standing(work, ms))
    globalThis.setTimeout = ended as typeof setTimeout
    onTestFinished(() => {
      globalThis.setTimeout = standing
    })
    void one.raise('books')
    await expect.poll(async () => (await other.standing()).size).toBe(1)
    globalThis.setTimeout = standing
    const late = new Promise((resolve) => setTimeout(() => resolve('late'), 2000))
    expect(await Promise.race([one.raise('books'), late])).toBeUndefined()
  })

  it('of two instances for one model are one', async () => {
    const { one, other } = await instances()
    await Promise.all([one.raise('books'), other.raise('books')])
    const standing = await one.standing()
    expect([...standing.keys()]).toEqual(['books'])
    expect(await one.lower('books', standing.get('books') ?? '')).toBe(true)
    await other.raise('books')
    expect((await other.standing()).has('books')).toBe(true)
  })
})
