/** A consumer of large records: others on the server wait while their changes are read. */

import { expect, it, vi } from 'vitest'
import * as z from 'zod'
import { consume, runBackground } from '../../src/background/changes/index.ts'
import { defineModel } from '../../src/index.ts'
import { hostOf } from '../../src/records/engine/host.ts'
import { apps } from './apps.ts'

const Page = defineModel('LargePage', {
  fields: { title: z.string(), text: z.string() },
  changes: true,
})

it.each([
  [200_000, 3],
  [10, 100],
])(
  'a consumer reads of records of %i characters at most %i changes at once',
  async (length, most) => {
    const app = apps('2026-11-26T12:00:00Z').app()
    const seen: string[] = []
    consume(app, 'mailer', {
      models: [Page],
      from: 'start',
      handle: ({ after }) => void seen.push(String(after?.title)),
    })
    await app.ready()
    const pages = app.store.collection(Page)
    const { _id } = await pages.insert({ title: '0', text: 'x'.repeat(length) })
    for (let at = 1; at < 120; at += 1) await pages.update(_id, { title: `${at}` })
    const log = hostOf(app.store).changes
    if (!log) throw new Error('the store has no log')
    const reads = vi.spyOn(log, 'read')
    const running = await runBackground(app)
    await vi.waitFor(() => expect(seen).toHaveLength(120), 10_000)
    await running.close()
    expect(seen).toEqual(Array.from({ length: 120 }, (_, at) => `${at}`))
    expect(Math.max(...reads.mock.calls.map(([, { limit }]) => limit))).toBe(most)
  },
)
