import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packed } from '../../services/packed.ts'
import { freePorts } from '../../services/server.ts'
import { publishedPackage } from '../../services/shared.ts'
import { build, served } from '../docker/dockerfile.ts'
import { Command } from './commands.ts'
import { registryOf } from './registry.ts'
import { PATH, type Scaffold, scaffoldIn } from './scaffold.ts'

const home = mkdtempSync(join(tmpdir(), 'fieldgate-cli-'))
const built = await publishedPackage()
let scaffold: Scaffold

beforeAll(async () => {
  scaffold = await scaffoldIn(home)
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command in `home` with lines on its standard input. */
async function ran(command: string, args: readonly string[], input = '', env = {}): Promise<Ended> {
  const child = spawn(command, args, { cwd: home, env: { ...process.env, PATH, ...env } })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk) => {
      output[name] += chunk
    })
  }
  // It may have ended before it has read everything.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...output }
}

const create = (args: readonly string[], input?: string) =>
  ran(process.execPath, [scaffold.cli, ...args], input)

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(home, folder, 'package.json'), 'utf8')) as {
    readonly name: string
    readonly scripts: Record<string, string>
  }

describe('create-fieldgate', () => {
  it('explains itself with --help, and has a --version', async () => {
    const help = await create(['--help'])
    expect(help).toMatchObject({ code: 0, stderr: '' })
    for (const option of [
      '--runtime',
      '--store',
      '--accounts',
      '--passkeys',
      '--admin',
      '--yes',
      '--no-install',
    ])
      expect(help.stdout).toContain(option)
    const { version } = JSON.parse(readFileSync(join(built.folder, 'package.json'), 'utf8')) as {
      readonly version: string
    }
    expect(await create(['-v'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it.each([
    [
      ['a', '--runtime', 'nodejs'],
      "'--runtime' must be node, deno, bun or workers, not 'nodejs'. Did you mean 'node'?",
    ],
    [
      ['a', '--store', 'redis'],
      "'--store' must be sqlite, libsql, d1, durable-sqlite, mongodb or postgres, not 'redis'.",
    ],
    [
      ['a', '--runtime', 'workers', '--store', 'sqlite'],
      "'--store sqlite' doesn't run on '--runtime workers'. Choose d1, durable-sqlite, libsql, mongodb or postgres.",
    ],
    [
      ['a', '--runtime', 'bun', '--store', 'd1'],
      "'--store d1' doesn't run on '--runtime bun'. Choose sqlite, libsql, mongodb or postgres.",
    ],
    [['a', '--passkeys', '--no-accounts'], "'--passkeys' needs '--accounts'."],
    [['a', 'b'], 'Name one directory, not 2: a b'],
    [
      ['a', '--stor', 'd1'],
      "Unknown option '--stor'. Did you mean '--store'? See create-fieldgate --help.",
    ],
    [['a', '--colour'], "Unknown option '--colour'. See create-fieldgate --help."],
    [['a', '--store'], "Option '--store <value>' argument missing. See create-fieldgate --help."],
    [['.'], "'.' isn't empty. Choose another directory."],
    [[''], 'Name a directory, such as my-api.'],
    [[' '], 'Name a directory, such as my-api.'],
    [['taken/sub/deep'], "'taken' is a file."],
  ])('refuses %j in one line', async (args, line) => {
    writeFileSync(join(home, 'taken'), '')
    const before = readdirSync(home)
    expect(await create(['--yes', ...args])).toEqual({ code: 2, stdout: '', stderr: `${line}\n` })
    expect(readdirSync(home)).toEqual(before)
  })

  it('refuses a file, and a Node that is too old', async () => {
    writeFileSync(join(home, 'file'), '')
    expect((await create(['file', '--yes'])).stderr).toBe("'file' is a file.\n")
    const old = 'Object.defineProperty(process.versions, "node", { value: "20.19.0" })'
    const args = ['--import', `data:text/javascript,${old}`, scaffold.cli, 'old', '--yes']
    expect(await ran(process.execPath, args)).toEqual({
      code: 2,
      stdout: '',
      stderr: 'create-fieldgate needs Node 22.18 or newer; this is 20.19.0.\n',
    })
  })

  it('takes the defaults with --yes: Node and SQLite', async () => {
    const { code, stdout } = await create(['Meine Küche!', '--yes', '--no-install'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('Node, SQLite, with an API key')])
    expect(stdout).toContain("\n  cd 'Meine Küche!'\n")
    expect(manifestOf('Meine Küche!').name).toBe('meine-kuche')
  })

  it('makes a project of pnpm for who runs it with pnpm', async () => {
    const agent = { npm_config_user_agent: 'pnpm/12.21.0 npm/? node/v22.23.3 linux x64' }
    const created = (folder: string, ...args: string[]) =>
      ran(process.execPath, [scaffold.cli, folder, '--yes', '--no-install', ...args], '', agent)
    const { stdout } = await created('pnpm-node')
    expect(stdout).toContain('\n  pnpm install\n  pnpm run dev\n')
    await created('pnpm-workers', '--runtime', 'workers')
    const text = (path: string) => readFileSync(join(home, path), 'utf8')
    expect(text('pnpm-node/pnpm-workspace.yaml')).not.toContain('workerd')
    expect(text('pnpm-workers/pnpm-workspace.yaml')).toContain('workerd: true')
    expect(text('pnpm-workers/wrangler.jsonc')).toContain('pnpm run assets')
    const image = text('pnpm-node/Dockerfile')
    expect(image).toContain('npx --yes pnpm@12.21.0 install --prod --frozen-lockfile')
    for (const path of ['Dockerfile', 'README.md', 'AGENTS.md', 'pnpm-workspace.yaml'])
      expect(text(`pnpm-node/${path}`)).not.toMatch(
        /package-lock|\bnpm (?:ci|install|run)|@if|\{\{/,
      )
    // Deno and Bun have managers of their own.
    expect((await created('pnpm-bun', '--runtime', 'bun')).stdout).toContain('\n  bun install\n')
    expect(existsSync(join(home, 'pnpm-bun/pnpm-workspace.yaml'))).toBe(false)
  })

  it('takes accounts along with passkeys', async () => {
    const { stdout } = await create(['keys', '--passkeys', '--yes', '--no-install'])
    expect(stdout).toContain('Made keys: Node, SQLite, with accounts and passkeys.')
  })

  it.each(['sqlite', 'libsql', 'postgres'])(
    'starts a database only if there is one: %s',
    async (store) => {
      const folder = `with-${store}`
      const { stdout } = await create([folder, '--store', store, '--yes', '--no-install'])
      const hasDatabase = existsSync(join(home, folder, 'compose.yaml'))
      expect([hasDatabase, stdout.includes('docker compose up')]).toEqual(
        Array(2).fill(store === 'postgres'),
      )
    },
  )

  it('fills a directory that has a repository and nothing else', async () => {
    mkdirSync(join(home, 'cloned/.git'), { recursive: true })
    expect((await create(['cloned', '--yes', '--no-install'])).code).toBe(0)
    expect(existsSync(join(home, 'cloned/.gitignore'))).toBe(true)
  })

  it('keeps the secrets of a Worker out of the repository', async () => {
    const args = ['secrets', '--runtime', 'workers', '--store', 'd1', '--yes', '--no-install']
    expect((await create(args)).code).toBe(0)
    expect(readFileSync(join(home, 'secrets/.gitignore'), 'utf8')).toContain('.dev.vars*\n')
  })

  it('asks for what is not given, and again after an answer that it does not know', async () => {
    const { code, stdout } = await create(['--no-install'], 'asked\nphp\nbun\n\ny\ny\ny\n')
    expect(code).toBe(0)
    expect(stdout).toContain('Directory (my-api):')
    expect(stdout.match(/Runtime: node, deno, bun or workers \(node\):/g)).toHaveLength(2)
    expect(stdout).toContain('Store: sqlite, libsql, mongodb or postgres (sqlite):')
    expect(stdout).toContain(
      'Made asked: Bun, SQLite, with accounts and passkeys and the admin page.',
    )
  })

  it('asks for nothing that follows from the options', async () => {
    const { code, stdout } = await create(['edge', '--store', 'd1', '--no-install'], 'no\n')
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('Runtime:')])
    expect(stdout).toContain('Made edge: Cloudflare Workers, Cloudflare D1, with an API key.')
  })

  it('makes nothing when the answers end', async () => {
    const { code, stderr } = await create(['unanswered'], 'node\n')
    expect([code, stderr]).toEqual([2, expect.stringContaining('Pass --yes')])
    expect(existsSync(join(home, 'unanswered'))).toBe(false)
  })

  it('asks on a terminal', async () => {
    const command = `'${process.execPath}' '${scaffold.cli}' typed --no-install`
    const args = ['--quiet', '--return', '--command', command, '/dev/null']
    const { code, stdout } = await ran('script', args, 'deno\npostgres\nyes\nno\nno\n')
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('Made typed: Deno, PostgreSQL, with accounts.'),
    ])
  })
})

/**
 * `@scalar/api-reference` with nothing but the script that new projects use of it; with all of it and what it depends on
 * npm would write 38,000 files, twice.
 */
function scriptOfReference(folder: string): string {
  const installed = join(import.meta.dirname, '../../../node_modules/@scalar/api-reference')
  const { name, version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    readonly name: string
    readonly version: string
  }
  const script = 'dist/browser/standalone.js'
  cpSync(join(installed, script), join(folder, script), { recursive: true })
  writeFileSync(join(folder, 'dist/index.js'), '')
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name, version, type: 'module', exports: './dist/index.js' }),
  )
  return folder
}

/** Runs the steps of a project's Dockerfile, and asks the server that they give. */
async function imageServes(project: string, env: NodeJS.ProcessEnv): Promise<void> {
  chmodSync(home, 0o755)
  const folder = join(home, 'image')
  mkdirSync(folder)
  const place = { context: project, folder, env: { ...process.env, PATH, ...env } }
  const image = await build(join(project, 'Dockerfile'), place)
  expect(image.user).toBe('node')
  const [port = 0] = await freePorts(1)
  const key = 'only-for-tests-0123456789abcdefghij'
  const said = { env: { PATH, API_KEY: key }, ready: 'Listening on' }
  await served(image, port, said, async (base) => {
    const response = await fetch(`${base}/notes`, { headers: { 'X-API-Key': key } })
    expect(await response.json()).toEqual({ success: true, data: [] })
  })
  expect(readdirSync(join(folder, 'data'))).toContain('notes.db')
}

describe('npm create fieldgate', () => {
  it('makes a project whose packages install, and whose types and tests pass, and whose image serves', async () => {
    const reference = scriptOfReference(join(home, 'reference'))
    const registry = await registryOf([
      { folder: reference, tarball: await packed(home, reference) },
      built,
      { folder: join(home, 'node_modules/create-fieldgate'), tarball: scaffold.tarball },
    ])
    // A cache of its own: npm would keep the package for the next run, which has another one of the same version.
    // What npm has kept of other packages is good enough, and what it knows against them is not the question here.
    const usual = {
      npm_config_registry: registry.url,
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_prefer_offline: 'true',
    }
    const env = { ...usual, npm_config_cache: join(home, 'cache') }
    try {
      const args = ['create', '--yes', 'fieldgate@latest', 'created', '--', '--yes', '--no-install']
      const created = await ran('npm', args, '', env)
      expect([created.code, created.stdout]).toEqual([0, expect.stringContaining('Made created')])

      const installed = await promisify(execFile)(
        process.execPath,
        [scaffold.cli, 'installed', '--yes'],
        { cwd: home, env: { ...process.env, PATH, ...usual } },
      )
      expect(installed.stdout).toContain('Next:\n\n  cd installed\n  npm run dev\n')
      for (const script of ['check', 'test']) {
        const command = new Command(join(home, 'installed'), script)
        expect([await command.ended(), command.output]).toEqual([0, expect.anything()])
      }
      await imageServes(join(home, 'installed'), usual)
    } finally {
      await registry.stop()
    }
  }, 600_000)
})
