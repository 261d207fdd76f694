import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { everything } from '../../src/ports/store/filter.ts'
import { hostOf } from '../../src/records/engine/host.ts'
import { backfillRecords } from '../../src/upkeep/changes/backfill.ts'
import { serve } from './served.ts'

/** More than one batch. */
const MANY = Array.from({ length: 1001 }, (_, at) => ({ name: `thing ${at}` }))

it('a backfill that goes on after an interruption leaves nothing that an earlier version wrote in between', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-interrupted-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const open = () => sqliteStore({ path: join(folder, 'things.db') })
  const old = serve(open, { fields: { name: z.string().optional() } })
  for (const one of MANY) await old.app.store.collection(old.model).insert(one)
  const now = serve(open, {
    fields: { title: z.string().optional() },
    options: { renamed: { name: 'title' } },
  })
  const { stored, history, database, schemas } = hostOf(now.app.store)
  const target = { models: [now.model], stored, history, database, schemas }
  const advance = () => {
    throw new Error('interrupted')
  }
  await expect(backfillRecords(target, { advance })).rejects.toThrow('interrupted')
  const records = stored(now.model)
  const [first] = await records.find({
    filter: everything,
    sort: [{ field: '_id', descending: false }],
    limit: 1,
  })
  // The earlier version is back for a while.
  const back = await old.call('PATCH', `/things/${first?._id}`, { name: 'written meanwhile' })
  expect(back.status).toBe(200)
  expect(await now.backfill()).toMatchObject({
    ok: true,
    models: [{ records: 1001, changed: 1001 }],
  })
  const under = { op: 'ne', field: 'name', value: null } as const
  expect(await records.count(under)).toBe(0)
  expect((await now.call('GET', `/things/${first?._id}`)).data.title).toBe('written meanwhile')
})
