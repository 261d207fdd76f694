import { expect, it, onTestFinished } from 'vitest'
import { Connection } from '../../adapters/stores/sqlite/connection/connection.ts'
import { addClock, DEADLINE } from '../../adapters/stores/sqlite/connection/functions.ts'
import type { Statement } from '../../adapters/stores/sqlite/layout/sql.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { openCollection } from '../../adapters/stores/sqlite/statements/collection.ts'
import { Held, type HeldDelivery } from '../../src/background/changes/held.ts'
import type { LoggedChange } from '../../src/ports/store/changes.ts'
import type { Collection, CollectionSchema } from '../../src/ports/store/store.ts'
import type { Host } from '../../src/records/engine/host.ts'
import { newFile } from '../contract/store/file.ts'

const change = { id: '1', model: 'Task', kind: 'created' } as unknown as LoggedChange
const now = new Date()
const waiting: HeldDelivery = {
  ...{
    _id: 'a'.repeat(24),
    change,
    lane: 'l',
    to: '',
    attempt: 1,
    due: now,
    since: now,
    error: '',
  },
}

/** What is held, in SQLite, and the index and the values in it by which each statement finds its records. */
async function noted() {
  const plans: string[] = []
  let connection: Connection | undefined
  let opened: CollectionSchema | undefined
  const note = ({ sql, values }: Statement) => {
    const steps = connection?.rows({ sql: `EXPLAIN QUERY PLAN ${sql}`, values }) ?? []
    const details = steps.map(({ detail }) => String(detail))
    plans.push(...details.filter((line) => /fieldgate_held|TEMP/.test(line)))
    return []
  }
  const open = (schema: CollectionSchema): Collection => {
    opened = schema
    return openCollection(schema, {
      deadline: DEADLINE,
      read: async (statement) => note(statement),
      count: async (statement) => note(statement).length,
      write: async (statement) => ({ rows: note(statement), changes: 0 }),
    })
  }
  const held = new Held({ collection: open } as unknown as Host, 'hooks')
  const schema = opened as unknown as CollectionSchema
  const file = newFile()
  const store = sqliteStore({ path: file })
  await store.prepare([schema])
  await store.close()
  connection = new Connection(file)
  onTestFinished(() => connection?.close())
  addClock(connection.db, () => false)
  return { held, plans, records: open(schema) }
}

it('SQLite finds a lane by its name, however many deliveries of others are due', async () => {
  const { held, plans, records } = await noted()
  const step = held.postpone(waiting)
  if (!('updateMany' in step)) throw new Error('no change of many')
  await records.updateMany(step.updateMany, step.change)
  await held.first('l')
  await held.blocked(['l', 'm'])
  expect(plans.length).toBeGreaterThan(2)
  for (const plan of plans) expect(plan).toMatch(/"lane","position"\]/)
})

it('what was set aside first is shown without a look at all that was', async () => {
  const { held, plans } = await noted()
  await held.aside(20)
  expect(plans).toEqual([expect.stringContaining('"due"] (<expr>=? AND <expr>=?)')])
})
