import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installInto, slowProgram } from './consumer.ts'

const run = promisify(execFile)
const esbuild = fileURLToPath(new URL('../../node_modules/.bin/esbuild', import.meta.url))
const project = mkdtempSync(join(tmpdir(), 'fieldgate-bundled-'))

/** An app that sends itself requests: records, accounts with a password, the reference, and a search by pattern. */
const app = `import { createApp, createAuthRouter, createRouter, defineModel, userFields } from 'fieldgate'
import { serve } from 'fieldgate/node'
import { openapi } from 'fieldgate/openapi'
import { sqliteStore } from 'fieldgate/sqlite'
import * as z from 'zod'
const User = defineModel('User', { fields: userFields(), unique: ['email'] })
const City = defineModel('City', { fields: { name: z.string() } })
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const app = createApp({ store: sqliteStore(), logger: silent })
const token = { secret: 'a secret that guards nothing, for this test' }
app.mount('/auth', createAuthRouter({ model: User, token }).router)
const cities = { model: City, middlewares: [], allowedFields: ['name'], search: ['name'] }
app.mount('/cities', createRouter(cities))
app.mount('/patterns', createRouter({ ...cities, allowRawRegex: true }))
app.mount('/docs', openapi({ title: 'Cities', version: '1' }))
const headers = { 'Content-Type': 'application/json' }
serve(app, { port: 0, hostname: '127.0.0.1' }).then(async ({ url, close }) => {
  const statusOf = async (path, body) => {
    const method = body ? 'POST' : 'GET'
    const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) })
    await response.text()
    return response.status
  }
  console.log(JSON.stringify({
    create: await statusOf('/cities', { name: 'Oslo' }),
    search: await statusOf('/cities?s=slo'),
    register: await statusOf('/auth/register', { email: 'a@example.com', password: 'correct horse' }),
    common: await statusOf('/auth/register', { email: 'b@example.com', password: 'qwertyuiop' }),
    reference: await statusOf('/docs'),
    pattern: await statusOf('/patterns?s=^O'),
  }))
  await close()
})
`

// No optional package is there: neither nodemailer nor re2js nor sharp.
beforeAll(async () => {
  await installInto(project, ['zod'])
  writeFileSync(join(project, 'app.js'), app)
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

async function bundled(...options: readonly string[]): Promise<void> {
  const { stderr } = await run(esbuild, ['--bundle', '--platform=node', ...options], {
    cwd: project,
  })
  expect(stderr).not.toMatch(/\[(?:WARNING|ERROR)\]/)
}

describe('an app in one file, made by esbuild', () => {
  it.each([
    ['CommonJS, its default', 'app.cjs', []],
    ['an ES module', 'app.mjs', ['--format=esm']],
  ])('starts and answers as %s', async (_, file, format) => {
    await bundled('app.js', ...format, `--outfile=${file}`)
    const { stdout } = await run(process.execPath, [file], { cwd: project })
    expect(JSON.parse(stdout)).toEqual({
      create: 201,
      search: 200,
      register: 201,
      common: 400,
      reference: 200,
      // Only this needs a package that is not there.
      pattern: 500,
    })
  })

  it('has no code of what the app does not use', async () => {
    writeFileSync(
      join(project, 'small.js'),
      `import { createApp, createRouter } from 'fieldgate'\nconsole.log(createApp, createRouter)`,
    )
    await bundled('small.js', '--format=esm', '--outfile=small.mjs')
    const text = readFileSync(join(project, 'small.mjs'), 'utf8')
    // What records and accounts say, in this order; the table of codes has every answer.
    const records = 'which is hidden'
    const accounts = 'a guard runs in an app that does not mount the auth router'
    expect([records, accounts].filter((words) => text.includes(words))).toEqual([records])
  })

  it('has only the parts of accounts that the app names', async () => {
    writeFileSync(
      join(project, 'parts.js'),
      `import { accountsWith, github } from 'fieldgate/accounts'\nconsole.log(accountsWith(github))`,
    )
    await bundled('parts.js', '--format=esm', '--outfile=parts.mjs')
    const text = readFileSync(join(project, 'parts.mjs'), 'utf8')
    const parts = ['api.github.com', 'graph.facebook.com', 'appleid.apple.com', 'ERR_JWKS']
    expect(parts.filter((words) => text.includes(words))).toEqual(['api.github.com'])
  })

  it('reads on threads as a folder, with their module beside it', async () => {
    writeFileSync(join(project, 'slow.js'), slowProgram)
    const reader = 'node_modules/fieldgate/dist/adapters/stores/sqlite/reader.js'
    await bundled('slow.js', `reader=${reader}`, '--splitting', '--format=esm', '--outdir=out')
    const { stdout, stderr } = await run(process.execPath, ['out/slow.js', 'slow.db'], {
      cwd: project,
    })
    expect(stderr).not.toContain('thread')
    expect(stdout.trim()).toBe('City 99999 true')
  })
})
