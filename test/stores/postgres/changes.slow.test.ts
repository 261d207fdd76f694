import connect from 'postgres'
import { expect, it, onTestFinished } from 'vitest'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { newId, people } from '../../../extras/contract/store/people.ts'
import { withId } from '../../../src/ports/store/filter.ts'
import type { CollectionSchema } from '../../../src/ports/store/store.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from './schemas.ts'

const logged: CollectionSchema = {
  ...people,
  logged: { model: 'Person', keepMs: Number.POSITIVE_INFINITY },
}

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)

  function opened() {
    const sql = connect(url, { max: 3, onnotice: () => {} })
    // Also if the test fails in the middle of a transaction, which would hold up other tests.
    onTestFinished(() => sql.end({ timeout: 0 }))
    return sql
  }

  it('an id that is used again has its entries in order, although the insert waited for the delete', async () => {
    const schema = fresh()
    const store = postgresStore({ url, schema })
    const sql = opened()
    await store.prepare([logged])
    const { changes, write } = store
    if (!changes || !write) throw new Error('no log')
    const id = newId()
    const insert = () => write([{ in: logged, by: null, insert: { _id: id, name: 'x' } }])
    await insert()

    const deleting = await sql.reserve()
    await deleting`BEGIN`
    await deleting`DELETE FROM ${sql(schema)}.${sql(logged.name)}`
    const again = insert()
    const waiting = sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO%'`
    await expect.poll(async () => (await sql`${waiting}`).length).toBeGreaterThan(0)
    // Transactions that begin and end meanwhile: the delete's entry comes after them.
    for (let count = 0; count < 5; count += 1) await sql`SELECT pg_current_xact_id()`
    await deleting`INSERT INTO ${sql(schema)}.fieldgate_changes (place, at, model, record)
      SELECT ${sql(schema)}.fieldgate_changes_place(1), 1, 'Person', ${id}`
    await deleting`COMMIT`
    deleting.release()
    await again

    const found =
      await sql`SELECT at::text FROM ${sql(schema)}.fieldgate_changes ORDER BY place, seq`
    expect(found.map(({ at }) => at === '1')).toEqual([false, true, false])
    await store.close()
  })

  it('what a slower process drops does not take back what a faster one has noted', async () => {
    const schema = fresh()
    const store = postgresStore({ url, schema })
    const sql = opened()
    const brief = { ...people, logged: { model: 'Person', keepMs: 1 } }
    // No write drops anything before the two processes do.
    await store.prepare([logged])
    await store.write?.([{ in: logged, by: null, insert: { _id: newId(), name: 'x' } }])
    await new Promise((resolve) => setTimeout(resolve, 10))
    const dropped = sql`${sql(schema)}.fieldgate_changes_dropped`

    const faster = await sql.reserve()
    await faster`BEGIN`
    await faster`INSERT INTO ${dropped} (model, place, seq, at) VALUES ('Person', 9000000000000, 1, 1)`
    let slower: Promise<void> | undefined
    const waiting = sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE ${`%${schema}%fieldgate_changes_dropped%`}`
    const waits = async () => {
      // Nothing is dropped while a transaction of another test may still write before it.
      slower ??= store.prepare([brief]).finally(() => {
        slower = undefined
      })
      return (await sql`${waiting}`).length
    }
    await expect.poll(waits).toBeGreaterThan(0)
    await faster`COMMIT`
    faster.release()
    await slower

    expect(await sql`SELECT place::text FROM ${dropped}`).toEqual([{ place: '9000000000000' }])
    await store.close()
  })

  it('a write is refused while the row of the log is gone, and a start makes it again', async () => {
    const schema = fresh()
    const store = postgresStore({ url, schema })
    const { write } = store
    if (!write) throw new Error('no log')
    await store.prepare([logged])
    const insert = (_id: string) => write([{ in: logged, by: null, insert: { _id, name: 'x' } }])
    const [first, second] = [newId(), newId()]
    await insert(first)

    const sql = opened()
    await sql`TRUNCATE ${sql(schema)}.fieldgate_change_log`
    const change = { set: { name: 'y' } }
    const gone = 'fieldgate_change_log has no row'
    await expect(insert(second)).rejects.toThrow(gone)
    await expect(write([{ in: logged, by: null, update: withId(first), change }])).rejects.toThrow(
      gone,
    )

    await store.prepare([logged])
    await insert(second)
    await store.close()
  })

  it('is read on after a position over a client of the app too', async () => {
    const store = postgresStore({ client: opened(), schema: fresh() })
    await store.prepare([logged])
    const { changes, write } = store
    if (!changes || !write) throw new Error('no log')
    const record = { _id: newId(), name: 'x' }
    const start = await changes.position()
    const written = await write([{ in: logged, by: null, insert: record }])
    const [noted] = ('noted' in written && written.noted) || []

    const reading = async () => {
      const found = await changes.read(start, { limit: 10 })
      return 'changes' in found ? found.changes.map(({ after }) => after) : found
    }
    // A transaction of another test may still write before it.
    await expect.poll(reading).toEqual([record])
    const found = await changes.history('Person', record._id, { limit: 10, upTo: noted?.id ?? '' })
    expect(found.map(({ after }) => after)).toEqual([record])
    await store.close()
  })
})
