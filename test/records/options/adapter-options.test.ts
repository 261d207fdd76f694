import { expect, it } from 'vitest'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import { redisCache } from '../../../adapters/caches/redis.ts'
import { upstashCache } from '../../../adapters/caches/upstash.ts'
import { diskFiles } from '../../../adapters/files/disk.ts'
import { r2Files } from '../../../adapters/files/r2.ts'
import { s3Files } from '../../../adapters/files/s3.ts'
import { wasmImages } from '../../../adapters/images/wasm.ts'
import { lambda } from '../../../adapters/runtimes/lambda.ts'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { libsqlStore } from '../../../adapters/stores/sqlite/calls/libsql.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'

const links = { secret: 'a secret of at least thirty-two characters' }
const s3 = { bucket: 'atlas', accessKeyId: 'k', secretAccessKey: 's' }
const mongodb = 'mongodb://127.0.0.1:1/atlas'
const bucket = { put() {} }
const url = 'postgres://127.0.0.1:1/atlas'

it.each<[string, (options: never) => unknown, object, string]>([
  ['sqliteStore', sqliteStore, { pth: 'a.db' }, "unknown option 'pth'. Did you mean 'path'?"],
  ['postgresStore', postgresStore, { url, shema: 'a' }, "'shema'. Did you mean 'schema'?"],
  ['postgresStore', postgresStore, { url, max: '10' }, "'max' must be a whole number"],
  ['postgresStore', postgresStore, { url, prepare: 'no' }, "'prepare' must be true or false"],
  ['postgresStore', postgresStore, { url, keepConnections: 0 }, "'keepConnections' must be true"],
  ['postgresStore', postgresStore, { url: new URL(url) }, "'url' must be a string"],
  ['mongoStore', mongoStore, { url: mongodb, databse: 'a' }, "'databse'. Did you mean 'database'?"],
  ['mongoStore', mongoStore, { url: mongodb, searchIndexes: 1 }, "'searchIndexes' must be true"],
  ['mongoStore', mongoStore, { url: mongodb, database: 7 }, "'database' must be a string"],
  ['libsqlStore', libsqlStore, { url: ':memory:', authtoken: 't' }, "Did you mean 'authToken'?"],
  ['libsqlStore', libsqlStore, { url: ':memory:', authToken: 7 }, "'authToken' must be a string"],
  ['libsqlStore', libsqlStore, { client: {} }, "'client' must be a client of @libsql/client"],
  ['memoryCache', memoryCache, { maxEntrys: 5 }, "Did you mean 'maxEntries'?"],
  ['redisCache', redisCache, { uri: 'redis://127.0.0.1' }, "'uri'. Did you mean 'url'?"],
  ['upstashCache', upstashCache, { url: 'https://a', tokn: 't' }, "Did you mean 'token'?"],
  ['s3Files', s3Files, { ...s3, endPoint: 'https://a' }, "Did you mean 'endpoint'?"],
  ['s3Files', s3Files, { ...s3, region: 7 }, "'region' must be a string"],
  ['diskFiles', diskFiles, { ...links, root: '.', uri: '/a' }, "Did you mean 'url'?"],
  ['diskFiles', diskFiles, { ...links, root: '.', url: 7 }, "'url' must be a string"],
  ['r2Files', (options) => r2Files(bucket as never, options), { ...links, root: '.' }, "'root'"],
  ['wasmImages', wasmImages, { maxPixel: 5 }, "Did you mean 'maxPixels'?"],
  ['wasmImages', wasmImages, { maxPixels: '5' }, "'maxPixels' must be a whole number"],
  ['lambda', (options) => lambda(null as never, options), { streeming: true }, "'streaming'?"],
])('%s refuses what it does not know: %o', (name, make, options, told) => {
  const call = () => make(options as never)
  expect(call).toThrow(TypeError)
  expect(call).toThrow(`${name}: `)
  expect(call).toThrow(told)
})
