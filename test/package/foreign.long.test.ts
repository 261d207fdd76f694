import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installInto, runtimes } from './consumer.ts'

const run = promisify(execFile)
const project = mkdtempSync(join(tmpdir(), 'fieldgate-foreign-'))

const example = join(import.meta.dirname, '../../examples/memory-store')

beforeAll(async () => {
  await installInto(project)
  for (const name of ['store.ts', 'store.test.ts'])
    copyFileSync(join(example, name), join(project, name))
})
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

/** The contract over a store that checks no unique fields, with a runner's own way to register tests. */
const broken = (runner: string) => `import { storeContract, verify } from 'fieldgate/contract'
${runner}
import { memoryStore } from './store.ts'

const forgetful = () => {
  const store = memoryStore()
  return { ...store, prepare: (schemas) => store.prepare(schemas.map((schema) => ({ ...schema, unique: [] }))) }
}
verify('a forgetful store', storeContract, { open: forgetful, close: (store) => store.close() }, runner)
`

/** What a test run says, whether or not it fails. */
async function tested(command: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, NO_COLOR: '1', NODE_NO_WARNINGS: '1' }
  const ended = run(command, args, { cwd: project, env, maxBuffer: 2 ** 26 })
  const { stdout, stderr } = await ended.catch(
    (failed: { stdout: string; stderr: string }) => failed,
  )
  return `${stdout}\n${stderr}`
}

describe('the contract in a project that installs the package', () => {
  const [[, [node]], [, [deno]], [, [bun]]] = runtimes
  const nodeTest = ['--test', '--test-reporter=tap']
  const denoTest = ['test', '-A', '--no-check', '--node-modules-dir=manual']
  const promise = 'a taken unique value is refused with its fields, and nothing is stored'

  it('is kept by the example, with node:test on Node', async () => {
    const said = await tested(node, [...nodeTest, 'store.test.ts'])
    expect(said).toMatch(/# pass 1\d\d\n# fail 0\n/)
    expect(said).toMatch(new RegExp(`^ *ok \\d+ - ${promise}$`, 'm'))
  })

  it('is kept by the example, with node:test on Deno and on Bun', async () => {
    expect(await tested(deno, [...denoTest, 'store.test.ts'])).toMatch(/\b0 failed/)
    expect(await tested(bun, ['test', './store.test.ts'])).toMatch(/^ 0 fail$/m)
  })

  it('names the promise that a store breaks, with node:test', async () => {
    writeFileSync(join(project, 'broken.test.ts'), broken(`import * as runner from 'node:test'`))
    const said = await tested(node, [...nodeTest, 'broken.test.ts'])
    expect(said).toMatch(new RegExp(`^ *not ok \\d+ - ${promise}$`, 'm'))
    expect(said).toMatch(/^ *ok \d+ - everything matches all, nothing matches none$/m)
  })

  it('names the promise that a store breaks, with deno test', async () => {
    writeFileSync(join(project, 'broken-deno.test.ts'), broken('const runner = Deno.test'))
    const said = await tested(deno, [...denoTest, 'broken-deno.test.ts'])
    expect(said).toContain(`a forgetful store: ${promise} ... FAILED`)
    expect(said).toContain('a forgetful store: everything matches all, nothing matches none ... ok')
  })
})
