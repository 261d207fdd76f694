/** Connections that something on the way has forgotten: nothing comes back on them, though new ones work. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import connectTo from 'postgres'
import { expect, it, onTestFinished } from 'vitest'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { notes } from '../../faults/mongodb/notes.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from './schemas.ts'

/** A way to the server at `url` that forgets its connections when it is told to: what is sent on them gets lost. */
async function forgetful(url: string) {
  const { hostname, port } = new URL(url)
  let generation = 0
  let opened = 0
  const way = createServer((client) => {
    const server = connect(Number(port), hostname)
    const own = generation
    opened += 1
    const passing = (to: typeof client) => (chunk: Buffer) => own === generation && to.write(chunk)
    client.on('data', passing(server)).on('error', () => {})
    server.on('data', passing(client)).on('error', () => {})
    client.on('close', () => server.destroy())
  })
  await once(way.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void way.close())
  const address = new URL(url)
  address.host = `127.0.0.1:${(way.address() as AddressInfo).port}`
  return {
    url: address.href,
    /** How many connections there have been. */
    get opened() {
      return opened
    },
    forget() {
      generation += 1
    },
  }
}

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)

  it('are given up when the server says that it is waiting for them', async () => {
    const way = await forgetful(url)
    const store = postgresStore({ url: way.url, schema: fresh(), max: 2 })
    onTestFinished(() => store.close())
    await store.prepare([notes])
    const collection = store.collection(notes)
    const insert = () => collection.insert({ _id: crypto.randomUUID(), n: 1 })
    const both = () => Promise.allSettled([insert(), insert()])
    expect(await both()).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }])
    way.forget()
    const reason = expect.any(StoreUnavailable)
    expect(await both()).toMatchObject([{ reason }, { reason }])
    expect(await both()).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }])
  }, 20_000)

  it('stay while the server is at work for them', async () => {
    const [way, schema] = [await forgetful(url), fresh()]
    const store = postgresStore({ url: way.url, schema, max: 2 })
    const other = connectTo(url, { max: 1 })
    onTestFinished(async () => {
      await store.close()
      await other.end()
    })
    await store.prepare([notes])
    const insert = () => store.collection(notes).insert({ _id: crypto.randomUUID(), n: 1 })
    const inserted = await other.begin(async (sql) => {
      await sql.unsafe(`LOCK TABLE "${schema}".notes`)
      const before = way.opened
      const both = Promise.all([insert(), insert()])
      // One for the second insert, and two that have looked what they wait for.
      await expect.poll(() => way.opened - before, { timeout: 15_000 }).toBeGreaterThan(2)
      return { both }
    })
    expect(await inserted.both).toHaveLength(2)
  }, 30_000)
})
