import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { takeLease } from '../../src/background/lease.ts'
import { Loop, once } from '../../src/background/loop.ts'
import type { Collection, Store } from '../../src/ports/store/store.ts'
import { recordedLog } from '../records/service.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('a lease that was taken slowly, and can be kept no more, is lost when others may take it', async () => {
  let isOut = false
  const update = async () => {
    if (isOut) throw new Error('the database is out of reach')
    await new Promise((resolve) => setTimeout(resolve, 8000))
    isOut = true
    return {}
  }
  const records = { update } as unknown as Collection
  const host = { database: {} as Store, now: Date.now }
  const taking = takeLease(host, records, { _id: 'a', owner: '', until: new Date() }, {}, once())
  await vi.advanceTimersByTimeAsync(8000)
  const lease = await taking
  await vi.advanceTimersByTimeAsync(11_000)
  expect(lease?.isLost).toBe(false)
  // 20 s after it was asked for, and a sign of life that fails.
  await vi.advanceTimersByTimeAsync(4500)
  expect(lease?.isLost).toBe(true)
})

it("a lease that took longer to take than it holds is another process's by then", async () => {
  const update = async () => {
    await new Promise((resolve) => setTimeout(resolve, 20_001))
    return {}
  }
  const records = { update } as unknown as Collection
  const host = { database: {} as Store, now: Date.now }
  const taking = takeLease(host, records, { _id: 'a', owner: '', until: new Date() }, {}, once())
  await vi.advanceTimersByTimeAsync(20_001)
  expect(await taking).toBeUndefined()
})

it.each([
  ['what a job has done', { done: new Date(1), error: '' }],
  ['why a job failed, with its next time,', { error: 'no paper', until: new Date(1) }],
])('%s is written when the database is back, however long that takes', async (_, end) => {
  let isOut = false
  const written: object[] = []
  const update = async (_: unknown, { set }: { set: object }) => {
    if (isOut) throw new Error('the database is out of reach')
    written.push(set)
    return {}
  }
  const records = { update } as unknown as Collection
  const host = { database: {} as Store, now: Date.now, logger: recordedLog() }
  const found = { _id: 'a', owner: '', until: new Date() }
  const loop = new Loop(host, 'a job', async (pace) => {
    const lease = await takeLease(host, records, found, {}, pace)
    isOut = true
    await lease?.end(end)
    return Number.POSITIVE_INFINITY
  })
  loop.start()
  await vi.advanceTimersByTimeAsync(60_000)
  isOut = false
  await vi.advanceTimersByTimeAsync(2000)
  expect(written.at(-1)).toMatchObject({ owner: '', ...end })
  expect(host.logger.lines).toEqual([])
  await loop.close()
})

it('a lease aborts with the pace of its holder, which keeps nothing of one that has ended', async () => {
  const any = vi.spyOn(AbortSignal, 'any')
  const closing = new AbortController()
  const pace = { ...once(), signal: closing.signal }
  const records = { update: async () => ({}) } as unknown as Collection
  const host = { database: {} as Store, now: Date.now }
  const take = () => takeLease(host, records, { _id: 'a', owner: '', until: new Date() }, {}, pace)
  const [held, ended] = [await take(), await take()]
  await ended?.end({})
  expect(any).not.toHaveBeenCalled()
  any.mockRestore()
  expect(getEventListeners(closing.signal, 'abort')).toHaveLength(1)
  closing.abort(new Error('closing'))
  expect([held?.signal.reason, ended?.signal.aborted]).toEqual([new Error('closing'), false])
  expect((await take())?.signal.aborted).toBe(true)
})
