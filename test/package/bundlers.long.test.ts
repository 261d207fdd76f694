import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runs } from '../runs.ts'
import { installed } from './consumer.ts'

const run = promisify(execFile)
const project = mkdtempSync(join(tmpdir(), 'fieldgate-bundlers-'))
const tools = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url))

/**
 * What this repository does not have, or the app imports, each at the version of the day; no optional package of fieldgate
 * is there.
 */
const PACKAGES = [
  ...['webpack@5.113.0', 'webpack-cli@6', 'next@16.4.6'],
  ...['react@19.3.1', 'react-dom@19.3.1', 'zod@4.6.7'],
]

/** An app with what has optional packages: patterns, mail, passkeys, images, the reference. */
const api = `import { createApp, createAuthRouter, createRouter, defineModel, userFields } from 'fieldgate'
import { diskFiles } from 'fieldgate/disk'
import { openapi } from 'fieldgate/openapi'
import { sqliteStore } from 'fieldgate/sqlite'
import * as z from 'zod'
const secret = 'a secret that guards nothing, for this test'
const logger = { debug() {}, info() {}, warn() {}, error() {} }
const files = diskFiles({ root: 'uploads', secret })
const User = defineModel('User', { fields: userFields(), unique: ['email'] })
const City = defineModel('City', { fields: { name: z.string() } })
const cities = { model: City, middlewares: [], allowedFields: ['name'], search: ['name'] }
export const app = createApp({ store: sqliteStore(), files, logger, basePath: '/api' })
  .mount('/auth', createAuthRouter({ model: User, token: { secret } }).router)
  .mount('/cities', createRouter(cities))
  .mount('/patterns', createRouter({ ...cities, allowRawRegex: true }))
  .mount('/docs', openapi({ title: 'Cities', version: '1' }))
`

/** Sends the same requests to a server, or to the app itself. */
const requests = `export async function statuses(send) {
  const headers = { 'Content-Type': 'application/json' }
  const statusOf = async (path, body) => {
    const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : {}
    const response = await send(new Request((globalThis.base ?? 'http://localhost') + '/api' + path, init))
    await response.text()
    return response.status
  }
  return {
    create: await statusOf('/cities', { name: 'Oslo' }),
    search: await statusOf('/cities?s=slo'),
    register: await statusOf('/auth/register', { email: 'a@example.com', password: 'correct horse' }),
    common: await statusOf('/auth/register', { email: 'b@example.com', password: 'qwertyuiop' }),
    reference: await statusOf('/docs'),
    pattern: await statusOf('/patterns?s=^O'),
  }
}
`

const RESPONSES = {
  create: 201,
  search: 200,
  register: 201,
  common: 400,
  reference: 200,
  // Only this needs a package that is not there.
  pattern: 500,
}

const main = `import { app } from './lib/api.js'
import { statuses } from './requests.js'
console.log(JSON.stringify(await statuses(app.handle)))
await app.close()
`

const page = `'use client'
import { createClient } from 'fieldgate/client'
const api = createClient('/api')
export default function Page() {
  return <button onClick={() => api('/cities').list()}>List</button>
}
`

const route = `import { app } from '../../../lib/api.js'
const handle = (request) => app.handle(request)
export { handle as GET, handle as POST }
`

// Next.js tells what becomes of minified code.
const webpack = `export default {
  mode: 'production', optimization: { minimize: false }, target: 'node22', entry: './main.js', experiments: { outputModule: true },
  output: { path: import.meta.dirname + '/webpack', filename: 'main.js', module: true, clean: true },
}
`

const vite = `export default {
  ssr: { noExternal: true },
  build: { ssr: 'main.js', outDir: 'vite', rollupOptions: { output: { entryFileNames: 'main.js' } } },
}
`

const FILES = {
  'lib/api.js': api,
  'requests.js': requests,
  'main.js': main,
  'browser.js': `import { createClient } from 'fieldgate/client'\nconsole.log(createClient('/api'))\n`,
  'webpack.config.js': webpack,
  'vite.config.js': vite,
  'browser.config.js': `export default { build: { outDir: 'browser' } }`,
  'app/layout.jsx': `export default ({ children }) => <html lang="en"><body>{children}</body></html>`,
  'app/page.jsx': page,
  'app/api/[[...path]]/route.js': route,
}

beforeAll(async () => {
  await installed(project, PACKAGES)
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), text)
  }
}, 600_000)
afterAll(() => rmSync(project, { recursive: true, force: true }))

const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NO_COLOR: '1', CI: '1' }

/** A program of the project, or else of this repository. */
function programOf(name: string): string {
  const own = join(project, 'node_modules/.bin', name)
  return existsSync(own) ? own : join(tools, name)
}

/** Runs a bundler in the project; resolves to all that it says. */
async function build(command: string, ...args: readonly string[]): Promise<string> {
  const path = programOf(command)
  const { stdout, stderr } = await run(path, args, { cwd: project, env })
  return stdout + stderr
}

/** What a bundler complains of, but for webpack's notes that a package is absent which only an option needs. */
function complaintsIn(said: string): string[] {
  const absent =
    /^.*Can't resolve '(?:nodemailer|re2js|@scalar\/api-reference|@simplewebauthn\/browser)'.*$/gm
  const notes = said.match(absent)?.length ?? 0
  const rest = said.replace(absent, '')
  const warnings = said.match(/^WARNING in /gm)?.length ?? 0
  if (warnings > notes) return [said]
  return (
    rest.match(
      /^.*(?:\bERROR in|\berror:|\bError:|\[WARN|unresolved|Can't resolve '|failed).*$/gim,
    ) ?? []
  )
}

const BUNDLERS = [
  ['webpack', ['webpack']],
  ['vite', ['vite', 'build']],
  ['rolldown', ['rolldown', 'main.js', '--platform=node', '--format=esm', '--dir=rolldown']],
  [
    'esbuild',
    ['esbuild', 'main.js', '--bundle', '--platform=node', '--format=esm', '--outdir=esbuild'],
  ],
  // A target before class fields makes assignments of them.
  [
    'lowered',
    [
      ...['esbuild', 'main.js', '--bundle', '--platform=node', '--format=esm', '--target=es2021'],
      ...['--supported:top-level-await=true', '--outdir=lowered'],
    ],
  ],
  ['bun', ['bun', 'build', 'main.js', '--target=bun', '--outdir=bun']],
] as const

describe('an app without the optional packages', () => {
  it.each(BUNDLERS)(
    'is built by %s without an error, and serves',
    async (name, [command, ...args]) => {
      const said = await build(command, ...args)
      expect(complaintsIn(said)).toEqual([])
      const runtime = name === 'bun' ? programOf('bun') : process.execPath
      const { stdout } = await run(runtime, [join(project, name, 'main.js')], { cwd: project })
      expect(JSON.parse(stdout)).toEqual(RESPONSES)
    },
  )

  // Webpack is above; before a release it is tried within Next.js too.
  it.each([
    ['Turbopack', []],
    ...(runs(1) > 1 ? [['webpack', ['--webpack']] as const] : []),
  ] as const)(
    'is built by Next.js with %s, as a route beside a page with the client',
    async (_, flags) => {
      const said = await build('next', 'build', ...flags)
      expect(complaintsIn(said)).toEqual([])
      const args = ['start', '--port', '0', '--hostname', '127.0.0.1']
      const server = spawn(programOf('next'), args, { cwd: project, env, detached: true })
      try {
        let printed = ''
        for await (const chunk of server.stdout) {
          printed += chunk
          if (/http:\/\/127\.0\.0\.1:\d+[\s\S]*Ready/.test(printed)) break
        }
        const [base] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? []
        expect(base).toBeDefined()
        const program = `import { statuses } from './requests.js'\nglobalThis.base = '${base}'\nconsole.log(JSON.stringify(await statuses(fetch)))`
        const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
          cwd: project,
        })
        expect(JSON.parse(stdout)).toEqual(RESPONSES)
      } finally {
        const ended = once(server, 'close')
        if (server.pid) process.kill(-server.pid, 'SIGTERM')
        await ended
      }
    },
    900_000,
  )

  it.each([
    ['vite', ['vite', 'build', '--config', 'browser.config.js']],
    ['esbuild', ['esbuild', 'browser.js', '--bundle', '--format=esm', '--outdir=browser']],
  ])('has a client that %s builds for browsers', async (_, [command = '', ...args]) => {
    writeFileSync(join(project, 'index.html'), '<script type="module" src="/browser.js"></script>')
    expect(complaintsIn(await build(command, ...args))).toEqual([])
  })
})
