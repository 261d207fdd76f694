import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { backfillAtStart } from '../../src/app/backfill.ts'
import { CHANGES } from './kinds.ts'
import { type Database, serve, started, type Version } from './served.ts'

const database: Database = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-at-start-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return () => sqliteStore({ path: join(folder, 'app.db') })
}

/** An app over the version that backfills when it starts. */
function backfilling(open: Awaited<ReturnType<Database>>, version: Version) {
  const served = serve(open, version)
  backfillAtStart(served.app)
  return served
}

for (const [kind, change] of Object.entries(CHANGES)) {
  it(`${kind}: the first request finds what a backfill at start-up has stored`, async () => {
    const { open, old, id } = await started(database, change)
    await old.app.close()
    const now = backfilling(open, change.after)
    for (const parameters of [...change.found, ...change.foundAfter]) {
      expect(await now.list(parameters)).toEqual([change.shown])
    }
    const left = change.problems.filter((problem) => !problem.startsWith('undeclared'))
    const misfits = now.log.lines.filter(({ message }) => message.includes('could not make'))
    expect(misfits).toHaveLength(left.length)
    for (const { message } of misfits) expect(message).toContain(id)
    expect(now.log.text.includes('has changed since')).toBe(left.length > 0)
  })
}

const before = { fields: { name: z.string() }, options: { unique: ['name'] } }
const stored = { name: 'a' }

it('an app whose unique field has a new name starts, and its index is that of the new one', async () => {
  const { open, old, id } = await started(database, { before, stored })
  await old.app.close()
  const after = {
    fields: { title: z.string() },
    options: { unique: ['title'], renamed: { name: 'title' } },
  }
  const refused = serve(open, after)
  await expect(refused.app.ready()).rejects.toThrow("records still hold 'title' as 'name'")
  await refused.app.close()
  const now = backfilling(open, after)
  expect(await now.list('?title=a')).toEqual([{ title: 'a' }])
  expect((await now.call('POST', '/things', { title: 'a' })).status).toBe(409)
  expect((await now.call('GET', `/things/${id}`)).data).toEqual({ _id: id, title: 'a' })
  const again = backfilling(open, after)
  await again.app.ready()
  expect(again.log.text).toBe('')
})

it('a former unique field takes the same value twice', async () => {
  const { open, old } = await started(database, { before, stored })
  await old.app.close()
  const now = backfilling(open, { fields: before.fields })
  expect((await now.call('POST', '/things', stored)).status).toBe(201)
})

it('an app that refused to start does so as soon as a backfill has made all records fit', async () => {
  const count = { before: { fields: { count: z.string() } }, stored: { count: '1' } }
  const { open, old } = await started(database, count)
  await old.app.close()
  const fields = { count: z.number() }
  const { app, list } = serve(open, { fields }, { onModelChange: 'refuse' })
  await expect(app.ready()).rejects.toThrow("onModelChange: 'refuse'")
  await expect(app.ready()).rejects.toThrow("onModelChange: 'refuse'")
  await serve(open, { fields, options: { convert: { count: Number } } }).backfill()
  expect(await list()).toEqual([{ count: 1 }])
})

it('what is no app is told so', () => {
  expect(() => backfillAtStart({} as never)).toThrow('backfillAtStart(app)')
})
