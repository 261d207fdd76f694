/** A process is stopped, or out of reach, in the middle of a write: what it held is free again soon, and readers of the log go on. */

import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { Connection } from '../../../adapters/stores/postgres/connection/connection.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { portError } from '../../../adapters/stores/postgres/layout/errors.ts'
import { createApp, defineModel } from '../../../src/index.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { hostOf } from '../../../src/records/engine/host.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from './schemas.ts'

const Note = defineModel('Note', { fields: { text: z.string() }, changes: true })

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)

  it('a transaction of a process that sends nothing ends, and so does the wait for it', async () => {
    const schema = fresh()
    const app = createApp({ store: postgresStore({ url, schema }), env: {} })
    onTestFinished(() => app.close())
    await app.ready()
    const notes = app.store.collection(Note)
    const { _id } = await notes.insert({ text: 'first' })
    const stopped = new Connection({ url, max: 1, prepare: true })
    onTestFinished(() => stopped.close())
    const [begun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const left = stopped.transaction(async (run) => {
      await run({ sql: `UPDATE "${schema}".notes SET text = 'never'`, values: [] })
      begun.resolve()
      await goesOn.promise
      await run({ sql: 'SELECT 1', values: [] })
    })
    left.catch(() => {})
    await begun.promise

    await notes.update(_id, { text: 'second' })
    const texts = async () => {
      const read = await hostOf(app.store, 'app').changes?.read(undefined, { limit: 10 })
      return read && 'changes' in read && read.changes.map(({ after }) => after?.text)
    }
    await expect.poll(texts, { timeout: 5000 }).toEqual(['first', 'second'])
    goesOn.resolve()
    await expect(left).rejects.toThrow()
  }, 40_000)
})

it.each([
  ['idle_in_transaction_session_timeout', '25P03'],
  ['transaction_timeout', '25P04'],
])('a transaction that the server has ended for %s is an outage', (_, code) => {
  const ended = Object.assign(new Error('terminating connection'), { code })
  expect(portError(ended)).toBeInstanceOf(StoreUnavailable)
})
