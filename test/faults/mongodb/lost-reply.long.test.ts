import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { type ReplicaSet, startReplicaSet } from '../../services/replica-set.ts'
import { withService } from '../../services/shared.ts'
import { notes } from './notes.ts'

/**
 * What becomes of a command: its reply is lost with the connection, the connection is reset while it is on its way, or
 * other bytes come in place of the reply.
 */
type Cut = 'late' | 'early' | 'garbage'

/** A proxy before the database; `cut` harms the next such command. */
function proxyTo(port: number): { server: Server; cut(command: string, how?: Cut): void } {
  let victim: string | undefined
  let how: Cut = 'late'
  const server = createServer((client) => {
    const database = connect(port, '127.0.0.1')
    let cutting = false
    client.on('data', (bytes) => {
      if (victim && bytes.includes(`${victim}\0`)) {
        victim = undefined
        cutting = true
        if (how === 'early') {
          client.resetAndDestroy()
          return
        }
      }
      database.write(bytes)
    })
    database.on('data', (bytes) => {
      if (!cutting) client.write(bytes)
      else if (how === 'garbage') client.end(Buffer.alloc(64, 0xff))
      else client.destroy()
    })
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      from.on('close', () => to.destroy()).on('error', () => to.destroy())
    }
  })
  return {
    server: server.listen(0, '127.0.0.1'),
    cut(command, next = 'late') {
      victim = command
      how = next
    },
  }
}

await withService('mongod', () => {
  describe('a write whose reply is lost', { timeout: 300_000 }, () => {
    let set: ReplicaSet
    let proxy: ReturnType<typeof proxyTo>
    let store: Store

    function storeWith(option: string): Store {
      const { port } = proxy.server.address() as AddressInfo
      return mongoStore({ url: `mongodb://127.0.0.1:${port}/?directConnection=true&${option}` })
    }

    beforeAll(async () => {
      set = await startReplicaSet(1)
      proxy = proxyTo(set.members[0]?.port ?? 0)
      await once(proxy.server, 'listening')
      store = storeWith('retryWrites=true')
      await store.prepare([notes])
    }, 300_000)
    afterAll(async () => {
      await store.close()
      proxy.server.close()
      await set.stop()
    })

    it('is stored once', async () => {
      const collection = store.collection(notes)
      proxy.cut('insert')
      await collection.insert({ _id: 'a', n: 0 })
      expect(await collection.count({ op: 'eq', field: '_id', value: 'a' })).toBe(1)
    })

    it('is stored once with the others of its round trip', async () => {
      const collection = store.collection(notes)
      const ids = ['c', 'd', 'e']
      proxy.cut('insert')
      await Promise.all(ids.map((_id) => collection.insert({ _id })))
      expect(await collection.count({ op: 'in', field: '_id', values: ids })).toBe(3)
    })

    it.each([1, 3])(
      'is not acknowledged where it is not tried again, %i at a time',
      async (size) => {
        const impatient = storeWith('retryWrites=false')
        await impatient.prepare([])
        const collection = impatient.collection(notes)
        proxy.cut('insert')
        const results = await Promise.allSettled(
          Array.from({ length: size }, () => collection.insert({ _id: crypto.randomUUID() })),
        )
        await impatient.close()
        const refused = { status: 'rejected', reason: { name: 'StoreUnavailable' } }
        expect(results).toMatchObject(Array.from({ length: size }, () => refused))
      },
    )

    it('is not acknowledged where other bytes come in its place', async () => {
      const impatient = storeWith('retryWrites=false')
      await impatient.prepare([notes])
      proxy.cut('insert', 'garbage')
      const error = await impatient
        .collection(notes)
        .insert({ _id: 'garbage' })
        .catch((reason) => reason)
      await impatient.close()
      expect(error).toMatchObject({ name: 'StoreUnavailable' })
    })

    it('is not acknowledged where it was cut on its way', async () => {
      const impatient = storeWith('retryWrites=false')
      await impatient.prepare([notes])
      const collection = impatient.collection(notes)
      proxy.cut('insert', 'early')
      const text = 'x'.repeat(12 << 20)
      const error = await collection.insert({ _id: 'cut', text }).catch((reason) => reason)
      await impatient.close()
      expect(error).toMatchObject({ name: 'StoreUnavailable' })
      expect(await store.collection(notes).count({ op: 'eq', field: '_id', value: 'cut' })).toBe(0)
    })

    it('counts once', async () => {
      const collection = store.collection(notes)
      await collection.insert({ _id: 'b', n: 0 })
      proxy.cut('findAndModify')
      const changed = await collection.update(
        { op: 'eq', field: '_id', value: 'b' },
        { increment: { n: 1 } },
      )
      expect(changed).toEqual({ _id: 'b', n: 1 })
    })
  })
})
