import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installInto, runtimes } from './consumer.ts'

const run = promisify(execFile)
const project = mkdtempSync(join(tmpdir(), 'fieldgate-start-'))

beforeAll(() => installInto(project))
afterAll(() => rmSync(project, { recursive: true, force: true }))

/** Errors that one entry throws, and whose class another entry gives or knows. */
const classes = `import { createApp, createRouter, defineModel, HttpError } from 'fieldgate'
import { apiKey } from 'fieldgate/guards'
import { sqliteStore } from 'fieldgate/sqlite'
import * as z from 'zod'
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const app = createApp({ store: sqliteStore(), logger: silent })
const Code = defineModel('Code', { fields: { code: z.string() }, unique: ['code'] })
app.mount('/codes', createRouter({ model: Code, middlewares: [apiKey({ keys: () => undefined })] }))
const { status } = await app.handle(new Request('http://localhost/codes'))
const codes = app.store.collection(Code)
await codes.insert({ code: 'a' })
const taken = await codes.insert({ code: 'a' }).catch((error) => error)
await app.close()
console.log(JSON.stringify({ refused: status, taken: taken instanceof HttpError && taken.status }))
process.exit()
`

describe('the entries of the package', () => {
  it.each(runtimes)('share their classes on %s', async (_, [command, ...args]) => {
    const file = join(project, 'classes.js')
    writeFileSync(file, classes)
    const { stdout } = await run(command, [...args, file], { cwd: project })
    expect(JSON.parse(stdout)).toEqual({ refused: 401, taken: 409 })
  })

  it('name the source in a stack trace, where Node reads source maps', async () => {
    const file = join(project, 'trace.js')
    writeFileSync(
      file,
      `import { defineModel } from 'fieldgate'\ndefineModel('', { fields: {} })\n`,
    )
    const failed = run(process.execPath, ['--enable-source-maps', file], { cwd: project })
    const { stderr } = await failed.catch((error: { stderr: string }) => error)
    expect(stderr).toMatch(/at defineModel \(fieldgate:\/\/\/src\/model\/define\.ts:\d+:\d+\)/)
  })
})

const server = `import { createApp } from 'fieldgate'
import { serve } from 'fieldgate/node'
import { sqliteStore } from 'fieldgate/sqlite'
await serve(createApp({ store: sqliteStore() }), { port: 0, hostname: '127.0.0.1' })
console.log('serving')
`

/** Starts the server with Node's compile cache in `folder`, and ends it with `signal` once it serves. */
async function startAndEnd(folder: string, signal: NodeJS.Signals): Promise<void> {
  writeFileSync(join(project, 'server.js'), server)
  const child = spawn(process.execPath, ['server.js'], {
    cwd: project,
    env: { ...process.env, NODE_COMPILE_CACHE: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'serving') child.kill(signal)
  }
  await ended
}

/** Node takes about a millisecond to find a file. */
const MOST_FILES = 40

const counted = `import { registerHooks } from 'node:module'
let files = 0
registerHooks({
  load(url, context, next) {
    if (url.includes('/fieldgate/dist/')) files += 1
    return next(url, context)
  },
})
await Promise.all(['fieldgate', 'fieldgate/node', 'fieldgate/sqlite'].map((name) => import(name)))
console.log(files)
`

it('an app on Node and SQLite loads few files', async () => {
  writeFileSync(join(project, 'counted.js'), counted)
  const { stdout } = await run(process.execPath, ['counted.js'], { cwd: project })
  expect(Number(stdout)).toBeGreaterThan(5)
  expect(Number(stdout)).toBeLessThanOrEqual(MOST_FILES)
})

describe("Node's compile cache", () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'is written by a server that %s ends',
    async (signal) => {
      const folder = join(project, `cache-${signal}`)
      await startAndEnd(folder, signal)
      expect(globSync('**/*', { cwd: folder }).length).toBeGreaterThan(20)
    },
  )
})
