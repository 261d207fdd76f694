import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installInto, runtimes } from './consumer.ts'

const run = promisify(execFile)
const project = mkdtempSync(join(tmpdir(), 'fieldgate-foreign-'))

beforeAll(() => installInto(project))
afterAll(() => rmSync(project, { recursive: true, force: true }))

/** An app on a store, a cache and a file store of others, whose every call fails with an error of the ports. */
const failing = `import * as z from 'zod'
import { createApp, createRouter, defineModel } from 'fieldgate'
import * as ports from 'fieldgate/ports'

const fails = (error) => async () => { throw error }
const collection = {
  find: fails(new ports.StoreUnavailable('gone')),
  count: fails(new ports.StoreTimeout('slow')),
  insert: fails(new ports.DuplicateKey(['code'])),
}
const store = { name: 'own', rawRegex: false, collection: () => collection, prepare: async () => {}, close: async () => {} }
const files = { serve: async (request) => {
  if (!request.url.includes('/files/')) return undefined
  throw request.headers.has('range') ? new ports.RangeNotSatisfiable(10) : new ports.FileForbidden('no')
} }
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const app = createApp({ store, files, logger: silent })
const Code = defineModel('Code', { fields: { code: z.string() }, unique: ['code'] })
app.mount('/codes', createRouter({ model: Code, middlewares: [], allowedFields: ['code'] }))
const statusOf = async (path, init) => (await app.handle(new Request('http://localhost' + path, init))).status
const json = { 'Content-Type': 'application/json' }
console.log(JSON.stringify({
  DuplicateKey: await statusOf('/codes', { method: 'POST', headers: json, body: '{"code":"a"}' }),
  StoreUnavailable: await statusOf('/codes'),
  StoreTimeout: await statusOf('/codes?page=1'),
  FileForbidden: await statusOf('/files/a'),
  RangeNotSatisfiable: await statusOf('/files/a', { headers: { range: 'bytes=20-' } }),
}))
process.exit()
`

describe('an adapter of another package', () => {
  it.each(runtimes)('is understood by its errors on %s', async (_, [command, ...args]) => {
    const file = join(project, 'failing.mjs')
    writeFileSync(file, failing)
    const { stdout } = await run(command, [...args, file], { cwd: project })
    expect(JSON.parse(stdout)).toEqual({
      DuplicateKey: 409,
      StoreUnavailable: 503,
      StoreTimeout: 503,
      FileForbidden: 403,
      RangeNotSatisfiable: 416,
    })
  })
})
