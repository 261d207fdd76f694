/** What a client of a live list has missed is read in parts, and told only if it is not much; and what waits for it. */

import { expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel } from '../../../src/index.ts'
import { hostOf } from '../../../src/records/engine/host.ts'
import { service } from '../service.ts'
import { Reading } from './stream.ts'

const Page = defineModel('MissedPage', {
  fields: { title: z.string(), text: z.string() },
  changes: true,
})

it.each([
  // Entries have the record twice.
  { length: 50_000, most: 9, too: 12 },
  { length: 10, most: 998, too: 1000 },
])('goes on after %o', async ({ length, most, too }) => {
  const { app } = service()
  app.mount('/pages', createRouter({ model: Page, live: true, middlewares: [] }))
  const pages = app.store.collection(Page)
  const { _id } = await pages.insert({ title: '', text: 'x'.repeat(length) })
  const follow = async (last = '') => {
    const headers = { accept: 'text/event-stream', 'last-event-id': last }
    const request = new Request('http://localhost/pages', { headers })
    return new Reading(await app.handle(request))
  }
  const live = await follow()
  const begin = await live.next()
  await live.cancel()
  const log = hostOf(app.store).changes
  if (!log) throw new Error('the store has no log')
  const reads = vi.spyOn(log, 'read')
  for (const [count, event] of [
    [most, 'set'],
    [too - most, 'records'],
  ] as const) {
    for (let at = 0; at < count; at += 1) await pages.update(_id, { title: `${count} ${at}` })
    const again = await follow(begin?.id)
    const title = event === 'set' ? `${most} 0` : `${count} ${count - 1}`
    const shown = expect.objectContaining({ title })
    expect(await again.next()).toMatchObject({
      event,
      data: { data: event === 'set' ? shown : [shown] },
    })
    await again.cancel()
  }
  const first = reads.mock.calls.filter(([after]) => after === begin?.id)
  expect(first.map(([, { limit }]) => limit)).toEqual([2, 2])
})

it('a record that is larger than what waits for slow clients reaches one that reads', async () => {
  const { app } = service()
  app.mount('/pages', createRouter({ model: Page, live: true, middlewares: [] }))
  const pages = app.store.collection(Page)
  const { _id } = await pages.insert({ title: '', text: 'x'.repeat(1_500_000) })
  const headers = { accept: 'text/event-stream' }
  const live = new Reading(await app.handle(new Request('http://localhost/pages', { headers })))
  await live.next()
  for (const title of ['one', 'two']) {
    await pages.update(_id, { title })
    expect(await live.next()).toMatchObject({ event: 'set', data: { data: { title } } })
  }
  await live.cancel()
})
