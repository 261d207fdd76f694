/** A primary that steps down while records are read: the driver is told of it by the errors of the reads themselves. */

import { MongoClient } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { newId, people } from '../../../extras/contract/store/people.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { startReplicaSet } from '../../services/replica-set.ts'

it('reads succeed or say that there is no primary, and go on', async () => {
  // One of its own: it steps down for all.
  const server = await startReplicaSet(1)
  onTestFinished(() => server.stop())
  const admin = (await MongoClient.connect(server.url)).db('admin')
  onTestFinished(() => admin.client.close())
  const store = mongoStore({ url: server.url, database: 'stepped' })
  onTestFinished(() => store.close())
  await store.prepare([people])
  const collection = store.collection(people)
  await collection.insert({ _id: newId(), name: 'x' })

  const failures: unknown[] = []
  let isOver = false
  const read = () => collection.find({ filter: everything, sort: [], limit: 1 })
  const reading = Array.from({ length: 20 }, async () => {
    while (!isOver) await read().catch((error) => failures.push(error))
  })
  for (let times = 0; times < 3; times += 1) {
    await admin.command({ replSetStepDown: 1, force: true })
    await server.primary()
  }
  isOver = true
  await Promise.all(reading)
  expect(failures.filter((error) => !(error instanceof StoreUnavailable))).toEqual([])
  await expect.poll(read, { timeout: 20_000 }).toHaveLength(1)
}, 90_000)
