import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Choices,
  RUNTIMES,
  type Runtime,
  STORES,
  type Store,
  storesOn,
} from '../../../packages/create-fieldgate/src/choices.ts'
import { runs } from '../../runs.ts'
import { startLibsql } from '../../services/libsql.ts'
import { run as runSql } from '../../services/postgres.ts'
import { withService } from '../../services/shared.ts'
import { Command } from './commands.ts'
import { type Scaffold, scaffoldIn } from './scaffold.ts'

type Kind = Omit<Choices, 'directory'>

const home = mkdtempSync(join(tmpdir(), 'fieldgate-create-'))
const times: string[] = []
let scaffold: Scaffold

beforeAll(async () => {
  scaffold = await scaffoldIn(home)
})
afterAll(() => {
  console.log(['project                checked and tested  server', ...times].join('\n'))
  rmSync(home, { recursive: true, force: true })
})

/**
 * What Deno and Bun run as Node does, unless `FIELDGATE_RUNS` is 2 or more: projects on a server differ by runtime in
 * src/server.ts and by store in src/app.ts, and test/http has each store on each of them.
 */
const AS_ON_NODE = /^(?:deno|bun)-(?:libsql|mongodb)/

/**
 * The combinations of a runtime with a store; with accounts or without in turn, so that each runtime and each store has
 * both, unless `FIELDGATE_RUNS` is 2 or more.
 */
const kindsWith = (store: Store): Kind[] =>
  RUNTIMES.filter((runtime) => storesOn(runtime).includes(store)).flatMap((runtime) => {
    if (runs(1) === 1 && AS_ON_NODE.test(`${runtime}-${store}`)) return []
    const turn = (RUNTIMES.indexOf(runtime) + STORES.indexOf(store)) % 2 === 0
    // Half of those with accounts have passkeys, too.
    return (runs(1) > 1 ? [true, false] : [turn]).map((accounts) => {
      const place = RUNTIMES.indexOf(runtime) + STORES.indexOf(store)
      const passkeys = accounts && place % 4 === 0
      // All that is there without the admin page is there with it too.
      return { runtime, store, accounts, passkeys, admin: accounts }
    })
  })

const accessOf = ({ accounts, passkeys }: Kind) =>
  passkeys ? 'passkeys' : accounts ? 'accounts' : 'key'
const nameOf = (kind: Kind) => `${kind.runtime}-${kind.store}-${accessOf(kind)}`

/** Its variables as the new project has them, with the database of this test. */
function configure(folder: string, databaseUrl: string): Map<string, string> {
  const file = join(folder, '.env')
  const text = readFileSync(file, 'utf8').replace(
    /^DATABASE_URL=.*$/m,
    `DATABASE_URL=${databaseUrl}`,
  )
  writeFileSync(file, text)
  return new Map(
    [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
}

/** The first requests of README.md. */
async function notesWork(base: string, apiKey: string | undefined): Promise<void> {
  const json = { 'Content-Type': 'application/json' }
  const post = async (path: string, headers: Record<string, string>, body: object) => {
    const init = { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) }
    const response = await fetch(`${base}${path}`, init)
    return { status: response.status, body: (await response.json()) as { data: { token: string } } }
  }
  // Who asks for it waits until it is: the first request of a Worker makes the tables, and a check has 800 ms.
  const readiness = async () => (await fetch(`${base}/readyz`)).json()
  await expect.poll(readiness).toMatchObject({ status: 'ok' })
  expect((await fetch(`${base}/notes`)).status).toBe(401)
  const account = { email: 'ann@example.com', password: 'correct horse battery' }
  const who: Record<string, string> = apiKey
    ? { 'X-API-Key': apiKey }
    : { Authorization: `Bearer ${(await post('/auth/register', {}, account)).body.data.token}` }
  expect(await post('/notes', who, { title: 'Buy milk' })).toMatchObject({ status: 201 })
  const found = await fetch(`${base}/notes?s=milk`, { headers: who })
  expect(await found.json()).toMatchObject({ data: [{ title: 'Buy milk', pinned: false }] })
  // The page's script is there too.
  const page = await (await fetch(`${base}/docs`)).text()
  const [, script = ''] = /<script src="([^"]+)"/.exec(page) ?? []
  const loaded = await fetch(new URL(script, `${base}/docs/`))
  expect([loaded.status, loaded.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('javascript'),
  ])
  await loaded.body?.cancel()
  if (apiKey) return
  const admin = await (await fetch(`${base}/admin`)).text()
  const [, program = ''] = /src="([^"]+)"/.exec(admin) ?? []
  expect((await fetch(new URL(program, base))).status).toBe(200)
}

/** Whether a script of the project succeeds; shows what it printed otherwise. */
async function passes(folder: string, script: string, args = ''): Promise<void> {
  const command = new Command(folder, script, {}, args)
  const code = await command.ended()
  expect({ script, code, output: code === 0 ? '' : command.output }).toEqual({
    script,
    code: 0,
    output: '',
  })
}

/** What a server has logged as wrong, but that it was not ready yet. */
function complaintsIn(output: string): string[] {
  const lines = output.split('\n').filter((line) => /"level":"(?:warn|error)"/.test(line))
  return lines.filter((line) => !line.includes('"message":"not ready"'))
}

/** Whether a project is started as in its image: some are started as on this machine. */
const isAsImage = ({ runtime, store }: Kind) => runtime === 'node' && store !== 'postgres'

async function serves(folder: string, kind: Kind, apiKey: string | undefined): Promise<void> {
  const onWorkers = kind.runtime === 'workers'
  const config = join(folder, '.config')
  mkdirSync(config)
  const server = onWorkers
    ? new Command(
        folder,
        'dev',
        { XDG_CONFIG_HOME: config },
        '--ip 127.0.0.1 --port 0 --inspector-port 0',
      )
    : new Command(folder, isAsImage(kind) ? 'image' : 'start', { PORT: '0' })
  try {
    await notesWork(await server.url(), apiKey)
    expect(complaintsIn(server.output)).toEqual([])
  } finally {
    const code = await server.stop()
    if (!onWorkers) expect([code, server.output]).toEqual([0, expect.anything()])
  }
}

/** The runtimes and ways of access whose tests have passed: they use a database in memory, whatever the project's store is. */
const tested = new Set<string>()

/** The runtimes whose projects have ended for want of a variable: what reads them is the same with every store. */
const ended = new Set<Runtime>()

/** Without one of its variables, a server ends with a line that names it; a Worker's bundle needs none. */
async function endsWithout(
  folder: string,
  kind: Kind,
  variables: Map<string, string>,
): Promise<void> {
  if (kind.runtime === 'workers') return passes(folder, 'deploy', '--dry-run')
  const ends = [...variables.keys()].map(async (name) => {
    const server = new Command(folder, 'start', { [name]: '' })
    expect([await server.ended(), server.output]).toEqual([
      1,
      `${name} is missing. Set it in .env, as in .env.example.\n`,
    ])
  })
  await Promise.all(ends)
}

/** Makes, checks, tests and starts a project of each kind. */
function suite(store: Store, databaseUrl: (name: string) => Promise<string>): void {
  describe(`a project on ${store}`, () => {
    it.each(kindsWith(store).map((kind) => [nameOf(kind), kind] as const))(
      '%s has types, tests and a server that work',
      async (name, kind) => {
        const folder = join(home, name)
        await scaffold.make(kind, folder)
        const variables = configure(folder, await databaseUrl(name.replaceAll('-', '_')))
        const begun = [performance.now()]
        // One thread of tsc does with half of the work.
        const alone = kind.runtime === 'deno' ? '' : '--singleThreaded'
        const tests = `${kind.runtime} ${accessOf(kind)}`
        const isNew = runs(1) > 1 || !tested.has(tests)
        tested.add(tests)
        await Promise.all([passes(folder, 'check', alone), isNew && passes(folder, 'test')])
        begun.push(performance.now())
        if (kind.accounts && !ended.has(kind.runtime)) {
          ended.add(kind.runtime)
          await endsWithout(folder, kind, variables)
        }
        await serves(folder, kind, variables.get('API_KEY'))
        begun.push(performance.now())
        const took = begun
          .slice(1)
          .map((end, at) => `${((end - (begun[at] ?? 0)) / 1000).toFixed(1)} s`)
        times.push(`${name.padEnd(29)}${took.map((time) => time.padStart(7)).join('')}`)
      },
    )
  })
}

const SAID = {
  postgres: /^The app did not start: the database cannot be used: /,
  mongodb: /^The app did not start: the database cannot be reached: /,
}

/** What a server that can't start prints, without its log. */
async function complaint(folder: string, port: string): Promise<readonly string[]> {
  const server = new Command(folder, 'start', { PORT: port })
  expect(await server.ended()).toBe(1)
  return server.output
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('{'))
}

describe('a project whose port is taken', () => {
  it.each(RUNTIMES.filter((runtime) => runtime !== 'workers'))(
    'ends on %s with two lines, the second of which says where the port is set',
    async (runtime) => {
      const folder = join(home, `${runtime}-without-port`)
      const kind = {
        runtime,
        store: 'sqlite',
        accounts: false,
        passkeys: false,
        admin: false,
      } as const
      await scaffold.make(kind, folder)
      const other = createServer().listen(0, '127.0.0.1')
      await once(other, 'listening')
      const { port } = other.address() as AddressInfo
      expect(await complaint(folder, String(port))).toEqual([
        expect.stringContaining(`port ${port} is in use by another process`),
        'The port is PORT in .env.',
      ])
      other.close()
    },
  )
})

describe('a project whose database is not there', () => {
  const absent = {
    postgres: 'postgres://notes:notes@127.0.0.1:9/notes',
    mongodb: 'mongodb://127.0.0.1:9/notes?replicaSet=rs0&serverSelectionTimeoutMS=500',
  } as const
  const runtimes = RUNTIMES.filter((runtime) => runtime !== 'workers')
  it.each(
    runtimes.flatMap((runtime) =>
      (['postgres', 'mongodb'] as const).map((store) => [runtime, store] as const),
    ),
  )(
    'ends on %s with %s with two lines, the second of which says how to start it',
    async (runtime, store) => {
      const folder = join(home, `${runtime}-without-${store}`)
      await scaffold.make({ runtime, store, accounts: true, passkeys: false, admin: false }, folder)
      configure(folder, absent[store])
      expect(await complaint(folder, '0')).toEqual([
        expect.stringMatching(SAID[store]),
        'Start it with docker compose up --detach --wait, or correct DATABASE_URL in .env.',
      ])
    },
  )
})

suite('sqlite', async () => '')
suite('d1', async () => '')
suite('durable-sqlite', async () => '')

const libsql = await startLibsql()
afterAll(() => libsql.stop())
suite('libsql', async (name) => (name.startsWith('workers') ? libsql.url : 'file:notes.db'))

await withService('mongo', ({ url }) =>
  suite('mongodb', async (name) => {
    const address = new URL(url)
    address.pathname = `/${name}_${Date.now()}`
    return address.href
  }),
)
await withService('postgres', ({ url }) =>
  suite('postgres', async (name) => {
    const database = `${name}_${Date.now()}`
    await runSql(url, `CREATE DATABASE ${database}`)
    const address = new URL(url)
    address.pathname = `/${database}`
    return address.href
  }),
)
