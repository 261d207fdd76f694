import connect from 'postgres'
import { expect, it, onTestFinished } from 'vitest'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { notes } from '../../faults/mongodb/notes.ts'
import { withService } from '../../services/shared.ts'

await withService('postgres', ({ url }) => {
  it('connections to a server that takes no writes are made anew: the address may lead to the new primary', async () => {
    const name = `demoted_${Date.now()}`
    const admin = connect(url, { max: 1 })
    await admin.unsafe(`CREATE DATABASE ${name}`)
    const store = postgresStore({ url: url.replace(/\/\w+(?=$|\?)/, `/${name}`) })
    onTestFinished(async () => {
      await store.close()
      await admin.unsafe(`DROP DATABASE ${name}`)
      await admin.end()
    })
    await store.prepare([notes])
    const collection = store.collection(notes)
    const cut = () =>
      admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name}`
    const inserts = () =>
      Promise.allSettled(
        Array.from({ length: 5 }, () => collection.insert({ _id: crypto.randomUUID(), n: 1 })),
      )
    // As after a failover: the sessions that are made now are those of a standby.
    await admin.unsafe(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    await cut()
    await inserts()
    for (const result of await inserts()) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailable) })
    }
    await admin.unsafe(`ALTER DATABASE ${name} RESET default_transaction_read_only`)
    await inserts()
    expect((await inserts()).map(({ status }) => status)).toEqual(Array(5).fill('fulfilled'))
  })
})
