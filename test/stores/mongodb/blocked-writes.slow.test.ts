/** MongoDB that takes no writes for a while, as while it is moved (`setUserWriteBlockMode`), or with a full disk. */

import { MongoBulkWriteError, MongoClient, MongoNetworkError, MongoServerError } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { portError, throwMet } from '../../../adapters/stores/mongodb/connection/errors.ts'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { createRouter, defineModel } from '../../../src/index.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { password } from '../../auth/accounts.ts'
import { service } from '../../auth/service.ts'
import { startReplicaSet } from '../../services/replica-set.ts'

const Task = defineModel('Task', { fields: { title: z.string() } })

it('is an outage for writes, whoever writes and whether there is an account; reads go on', async () => {
  // One of its own: the block is for all databases.
  const server = await startReplicaSet(1)
  onTestFinished(() => server.stop())
  const client = await MongoClient.connect(server.url)
  onTestFinished(() => client.close())
  const block = (global: boolean) =>
    client.db('admin').command({ setUserWriteBlockMode: 1, global })
  const app = await service({ store: mongoStore({ url: server.url, database: 'blocked' }) })
  app.app.mount('/tasks', createRouter({ model: Task, middlewares: [], allowedFields: ['title'] }))
  const { token } = await app.register('ann@example.com')
  const sign = async (identifier: string, given: string) =>
    (await app.post('/auth/login', { identifier, password: given })).status
  const statuses = async () => [
    (await app.post('/tasks', { title: 'a' })).status,
    await sign('ann@example.com', password),
    await sign('ann@example.com', 'wrong'),
    await sign('nobody@example.com', 'wrong'),
  ]
  // Its decoys are there.
  expect(await statuses()).toEqual([201, 200, 401, 401])
  await block(true)
  expect(await statuses()).toEqual([503, 503, 503, 503])
  expect((await app.call('GET', '/tasks')).status).toBe(200)
  expect((await app.call('GET', '/auth/me', undefined, token)).status).toBe(200)
  await block(false)
  expect(await statuses()).toEqual([201, 200, 401, 401])
})

it('has no room left', () => {
  const error = new MongoServerError({ code: 14031, message: 'No space left on device' })
  expect(portError(error)).toBeInstanceOf(StoreUnavailable)
})

it.each([
  ['LockTimeout', 24],
  ['CursorNotFound', 43],
  ['QueryPlanKilled', 175],
  ['CursorKilled', 237],
  ['SnapshotUnavailable', 246],
  ['TemporarilyUnavailable', 365],
])('meets what somebody does to a collection or a cursor meanwhile: %s', (codeName, code) => {
  const error = new MongoServerError({ code, codeName, message: 'meanwhile' })
  expect(portError(error)).toBeInstanceOf(StoreUnavailable)
})

it('is lost in the middle of a write of several documents, which the driver wraps', () => {
  const lost = new MongoNetworkError('read ECONNRESET')
  const wrapped = new MongoBulkWriteError(lost as never, {} as never)
  expect(() => throwMet(wrapped)).toThrow(lost)
  expect(portError(lost)).toBeInstanceOf(StoreUnavailable)
})
