import postgres from 'postgres'
import { expect, it, onTestFinished } from 'vitest'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { withId } from '../../../src/ports/store/filter.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { notes } from '../../faults/mongodb/notes.ts'
import { withService } from '../../services/shared.ts'

await withService('postgres', ({ url }) => {
  it('calls wait for the connections that there are, where the server has no room for more', async () => {
    const name = `room_${crypto.randomUUID()}`
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    await sql.unsafe(`CREATE ROLE "${name}" LOGIN CONNECTION LIMIT 2; CREATE SCHEMA "${name}"
      AUTHORIZATION "${name}"`)
    const address = new URL(url)
    address.username = name
    const store = postgresStore({ url: address.href, schema: name })
    onTestFinished(async () => {
      await store.close()
      await sql.unsafe(`DROP OWNED BY "${name}"; DROP ROLE "${name}"`)
      await sql.end()
    })
    await store.prepare([notes])
    const write = () => {
      const insert = { _id: crypto.randomUUID(), n: 1 }
      return store.write?.([
        { in: notes, insert },
        { in: notes, delete: withId(insert._id) },
      ])
    }
    await Promise.all(Array.from({ length: 30 }, write))
    await sql.unsafe(`ALTER ROLE "${name}" CONNECTION LIMIT 0`)
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ${name}`
    await expect(write()).rejects.toThrow(StoreUnavailable)
  })
})
