/** A process dies in the middle of a write: what it held is free again soon, and readers of the log go on. */

import { MongoClient } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { createApp, defineModel } from '../../src/index.ts'
import { hostOf } from '../../src/records/engine/host.ts'
import { withService } from '../services/shared.ts'

const Note = defineModel('Note', { fields: { text: z.string() }, changes: true })

await withService('mongo', ({ url }) => {
  it('what a killed process has written in part is undone, and the log goes on', async () => {
    const database = `left-${crypto.randomUUID()}`
    const app = createApp({ store: mongoStore({ url, database }), env: {} })
    onTestFinished(() => app.close())
    await app.ready()
    const notes = app.store.collection(Note)
    const { _id } = await notes.insert({ text: 'first' })
    await leaveTransaction(url, database, _id)

    await notes.update(_id, { text: 'second' })
    await expect
      .poll(
        async () => {
          const read = await hostOf(app.store).changes?.read(undefined, { limit: 10 })
          return read && 'changes' in read && read.changes.map(({ after }) => after?.text)
        },
        { timeout: 30_000 },
      )
      .toEqual(['first', 'second'])
  }, 60_000)
})

/** Does what the store does before it commits a write of a note, some seconds ago, and nothing more. */
async function leaveTransaction(url: string, name: string, note: string): Promise<void> {
  const client = new MongoClient(url)
  onTestFinished(() => client.close(true))
  const database = client.db(name)
  const log = database.collection<{ _id: string; number: number; open: object[] }>(
    'fieldgate_change_log',
  )
  const session = client.startSession()
  session.startTransaction({ readConcern: { level: 'snapshot' } })
  const held = await database
    .collection('notes')
    .updateOne({ text: 'first' }, { $set: { text: 'never' } }, { session })
  expect(held.modifiedCount).toBe(1)
  const row = await log.findOne({ _id: 'log' })
  const number = (row?.number ?? 0) + 1
  const ticket = { number, at: new Date(Date.now() - 10_000), session: session.id ?? null }
  await log.updateOne({ _id: 'log' }, { $set: { number }, $push: { open: ticket } })
  const entry = { _id: number * 2 ** 20, at: new Date(), model: 'Note', record: note }
  const entries = database.collection<typeof entry>('fieldgate_changes')
  await entries.insertOne(entry, { session })
}
