import { expect, it } from 'vitest'
import { redisCache } from '../../../adapters/caches/redis.ts'
import { upstashCache } from '../../../adapters/caches/upstash.ts'
import { diskFiles } from '../../../adapters/files/disk.ts'
import { r2Files } from '../../../adapters/files/r2.ts'
import { toExpress } from '../../../adapters/runtimes/express.ts'
import { serve } from '../../../adapters/runtimes/node.ts'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { durableStore } from '../../../adapters/stores/sqlite/calls/durable-sqlite.ts'
import { libsqlStore } from '../../../adapters/stores/sqlite/calls/libsql.ts'
import { audit } from '../../../src/audit/index.ts'
import { batch } from '../../../src/batch/index.ts'
import { createClient } from '../../../src/client/index.ts'
import * as guards from '../../../src/guards/index.ts'
import { health } from '../../../src/health/index.ts'
import * as fieldgate from '../../../src/index.ts'
import { document, openapi } from '../../../src/openapi/index.ts'

/** Calls that TypeScript refuses, with what they are told. */
const CALLS: Readonly<Record<string, readonly [call: unknown, error: string]>> = {
  createApp: [
    fieldgate.createApp,
    "createApp: 'store' is required, e.g. createApp({ store: sqliteStore() })",
  ],
  createAuthRouter: [fieldgate.createAuthRouter, 'Auth: '],
  defineModel: [fieldgate.defineModel, 'a model needs a name'],
  describeGuard: [fieldgate.describeGuard, 'describeGuard(guard, text) takes a guard'],
  sweepFiles: [fieldgate.sweepFiles, 'sweepFiles(app) takes an app that createApp() returned'],
  idempotency: [guards.idempotency, "idempotency: 'ttlSeconds' is required"],
  rateLimit: [guards.rateLimit, "rateLimit: 'limit' and 'windowSeconds' are required"],
  apiKey: [guards.apiKey, "apiKey: 'keys' is required"],
  cors: [guards.cors, "cors: 'origins' is required, e.g. ['https://app.example.com']"],
  openapi: [openapi, "openapi: 'title' must be a string that is not empty"],
  document: [document, 'document(app, options) takes an app that createApp() returned'],
  audit: [audit, 'audit(app) takes an app that createApp() returned'],
  createClient: [createClient, "createClient: 'url' must be a string"],
  mongoStore: [mongoStore, "mongoStore: 'url' or 'client' is needed"],
  postgresStore: [postgresStore, "postgresStore: 'url' or 'client' is needed"],
  libsqlStore: [libsqlStore, "libsqlStore: 'url' must say where the database is"],
  d1Store: [d1Store, 'd1Store: a D1 binding is needed'],
  durableStore: [durableStore, "durableStore: the 'storage' of a Durable Object's state is needed"],
  redisCache: [redisCache, "redisCache: 'url' must start with redis:// or rediss://"],
  upstashCache: [upstashCache, "upstashCache: 'url' is needed"],
  diskFiles: [diskFiles, "diskFiles: 'root' must be a folder"],
  r2Files: [r2Files, 'r2Files: an R2 binding is needed'],
  serve: [serve, 'serve(app) takes an app that createApp() returned'],
  toExpress: [toExpress, 'toExpress(app) takes an app that createApp() returned'],
}

const called = async (call: unknown, ...given: readonly unknown[]) =>
  (call as (...given: readonly unknown[]) => unknown)(...given)

it.each(Object.keys(CALLS))('%s() without its options says what it needs', async (name) => {
  const [call, error] = CALLS[name] ?? []
  for (const given of [[], [undefined], [null]]) {
    const thrown: unknown = await called(call, ...given).catch((caught: unknown) => caught)
    expect(thrown).toBeInstanceOf(TypeError)
    expect((thrown as Error).message).toContain(error ?? '')
  }
})

it.each([
  ['secureHeaders', guards.secureHeaders],
  ['batch', batch],
  ['health', health],
])('%s(null) says that it takes options', async (name, call) => {
  await expect(called(call)).resolves.toBeDefined()
  await expect(called(call, null)).rejects.toThrow(`${name}: the options must be an object`)
})

it('a guard with other values for options says that it takes an object', async () => {
  for (const given of ['x', 5, true]) {
    const error = 'idempotency: the options must be an object'
    await expect(called(guards.idempotency, given)).rejects.toThrow(error)
  }
})

it('an option that is not there is told before one that is missing', () => {
  expect(() => diskFiles({ path: './uploads' } as never)).toThrow(
    "diskFiles: unknown option 'path'. There are: ",
  )
})
