/**
 * What a project installs, and the commands that it has.
 *
 * @module
 */

import type { Choices, Runtime, Store } from './choices.ts'

/** What is told of a runtime, and how its projects are used. */
interface RuntimeFacts {
  readonly title: string
  /** What installs its packages and runs its scripts; it comes before `install` and `run`. */
  readonly manager: 'npm' | 'deno' | 'bun'
  readonly port: number
  readonly scripts: Readonly<Record<string, string>>
}

const NODE = 'node --disable-warning=ExperimentalWarning'
const DENO = 'deno run --env-file --allow-net --allow-env --allow-read --allow-write --allow-sys'

export const RUNTIME: Readonly<Record<Runtime, RuntimeFacts>> = {
  node: {
    title: 'Node',
    manager: 'npm',
    port: 3000,
    scripts: {
      dev: `${NODE} --env-file-if-exists=.env --watch src/server.ts`,
      start: `${NODE} --env-file-if-exists=.env src/server.ts`,
      test: `${NODE} --test`,
      check: 'tsc',
    },
  },
  deno: {
    title: 'Deno',
    manager: 'deno',
    port: 3000,
    scripts: {
      dev: `${DENO} --watch src/server.ts`,
      start: `${DENO} src/server.ts`,
      test: 'deno test --no-check --allow-env --allow-read',
      check: 'deno check src test',
    },
  },
  bun: {
    title: 'Bun',
    manager: 'bun',
    port: 3000,
    scripts: {
      dev: 'bun --watch src/server.ts',
      start: 'bun src/server.ts',
      test: 'bun test',
      check: 'tsc',
    },
  },
  workers: {
    title: 'Cloudflare Workers',
    manager: 'npm',
    port: 8787,
    scripts: {
      dev: 'wrangler dev',
      deploy: 'wrangler deploy',
      assets: `node -e "fs.cpSync('node_modules/@scalar/api-reference/dist/browser/standalone.js', 'public/scalar.js')"`,
      test: `${NODE} --test`,
      check: 'tsc',
    },
  },
}

/** What installs a project's packages; `run` comes before the name of a script. */
export interface Manager {
  readonly name: 'npm' | 'pnpm' | 'deno' | 'bun'
  /** Of pnpm, which images have to fetch: the one that made the project. */
  readonly version?: string
  readonly install: string
  readonly run: string
}

/** The manager of a project, by what runs this command: `npm_config_user_agent`, such as `pnpm/12.21.0 npm/? node/v22.18.0`. */
export function managerOf(runtime: Runtime, agent: string = ''): Manager {
  const { manager: name } = RUNTIME[runtime]
  const [, version] = name === 'npm' ? (/^pnpm\/([\w.+-]+)/.exec(agent) ?? []) : []
  if (version) return { name: 'pnpm', version, install: 'pnpm install', run: 'pnpm run' }
  return { name, install: `${name} install`, run: name === 'deno' ? 'deno task' : `${name} run` }
}

/** What is told of a store. */
interface StoreFacts {
  readonly title: string
  /** The driver that it needs. */
  readonly driver?: Package
  /** The address of the database in compose.yaml, or of a file. */
  readonly url?: string
  /** The same on Workers, which have no files. */
  readonly workersUrl?: string
}

export const STORE: Readonly<Record<Store, StoreFacts>> = {
  sqlite: { title: 'SQLite' },
  libsql: {
    title: 'libSQL',
    driver: '@libsql/client',
    url: 'file:notes.db',
    workersUrl: 'http://127.0.0.1:8080',
  },
  d1: { title: 'Cloudflare D1' },
  'durable-sqlite': { title: 'SQLite of a Durable Object' },
  mongodb: {
    title: 'MongoDB',
    driver: 'mongodb',
    url: 'mongodb://127.0.0.1:27017/notes?replicaSet=rs0',
  },
  postgres: {
    title: 'PostgreSQL',
    driver: 'postgres',
    url: 'postgres://notes:notes@127.0.0.1:5432/notes',
  },
}

/** The versions that fieldgate is tested with, and later compatible ones. */
export const VERSIONS = {
  '@libsql/client': '^0.18.0',
  '@scalar/api-reference': '^1.72.1',
  '@simplewebauthn/server': '^14.0.3',
  '@types/node': '^22.20.5',
  mongodb: '^7.9.0',
  postgres: '^3.4.9',
  typescript: '^7.0.2',
  wrangler: '^4.164.0',
  zod: '^4.6.7',
} as const

type Package = keyof typeof VERSIONS

/** The package.json of a project; `version` is that of fieldgate. */
export function manifestOf(
  { runtime, store, passkeys, admin }: Choices,
  name: string,
  version: string,
): object {
  const { driver } = STORE[store]
  const needed: Package[] = driver ? [driver, 'zod'] : ['zod']
  if (passkeys) needed.unshift('@simplewebauthn/server')
  const tools: Package[] = ['@types/node']
  // Deno brings its own compiler, and has its commands in deno.json.
  if (runtime !== 'deno') tools.push('typescript')
  if (runtime === 'workers') tools.push('wrangler')
  return {
    name,
    version: '0.0.0',
    private: true,
    type: 'module',
    ...(runtime !== 'deno' && { scripts: RUNTIME[runtime].scripts }),
    dependencies: {
      fieldgate: `^${version}`,
      ...(admin && { 'fieldgate-admin': `^${version}` }),
      ...versionsOf(needed),
    },
    devDependencies: versionsOf(['@scalar/api-reference', ...tools]),
  }
}

function versionsOf(names: readonly Package[]): object {
  return Object.fromEntries(names.map((name) => [name, VERSIONS[name]]))
}
