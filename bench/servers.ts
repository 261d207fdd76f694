/**
 * The servers of the comparison, on each store.
 *
 * @module
 */

import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { built, bundled } from './build.ts'
import { bkndDialect } from './dialects/bknd.ts'
import type { Dialect } from './dialects/dialect.ts'
import { feathersDialect } from './dialects/feathers.ts'
import { pocketbaseDialect } from './dialects/pocketbase.ts'
import { postgrestDialect } from './dialects/postgrest.ts'
import { servingBknd } from './records/bknd.ts'
import { bundleOf } from './records/d1.ts'
import type { Owner } from './records/database.ts'
import { pocketbase, serving } from './records/pocketbase.ts'
import { servingPostgrest } from './records/postgrest.ts'
import { FROM_SOURCE } from './server.ts'

/** A store. */
export type StoreName = 'sqlite' | 'mongodb' | 'postgres' | 'd1'

/** A server that is measured. */
export interface Contender {
  readonly name: string
  /** fieldgate on Node, on another runtime, or somebody else. */
  readonly kind: 'own' | 'runtimes' | 'peers'
  readonly owner: Owner
  /** The works that it takes part in. Default: all. */
  readonly works?: readonly string[]
  /** Whether its answers may differ from those of the other servers. */
  readonly isAlone?: boolean
  /** Its words, if it has a contract of its own. */
  readonly dialect?: Dialect
  /** What starts it on the records at `place`. */
  command(place: string): Promise<readonly string[]>
}

const file = (path: string) => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url))
const serveWorker = fileURLToPath(new URL('d1/serve.ts', import.meta.url))
const MODULES = '--node-modules-dir=manual'
const NODE = [process.execPath, '--no-warnings']

/** The name of the limit, beside which the others are measured. */
export const LIMIT = 'limit'

function own(
  name: string,
  kind: Contender['kind'],
  runtime: readonly string[],
  script: string,
): Contender {
  const command = async (place: string) => [...runtime, built(`fieldgate/${script}`), place]
  return { name, kind, owner: 'fieldgate', command }
}

function peer(name: string, script: string): Contender {
  const command = async (place: string) => [...NODE, built(`peers/${script}`), place]
  return { name, kind: 'peers', owner: 'peers', command }
}

/** What the limit would be if a commit did not wait for the disk. */
const lessDurable: Contender = {
  name: 'limit, not durable',
  kind: 'peers',
  owner: 'peers',
  works: ['create'],
  command: async (place) => [...NODE, built('peers/bare/sqlite'), place, 'NORMAL'],
}

/** What the limit would be if a search walked the index of its sort, as SQLite's planner wants it. */
const walking: Contender = {
  ...lessDurable,
  name: 'limit, by index',
  works: ['search-word'],
  command: async (place) => [...NODE, built('peers/bare/sqlite'), place, 'FULL', 'walk'],
}

const pocketbaseItself: Contender = {
  name: 'PocketBase',
  kind: 'peers',
  owner: 'pocketbase',
  dialect: pocketbaseDialect,
  command: async (place) => serving((await pocketbase()) ?? '', place),
}

const bknd: Contender = {
  name: 'bknd',
  kind: 'peers',
  owner: 'bknd',
  dialect: bkndDialect,
  // It sorts by one field, so that pages of equal prices differ, has no cursor, and warns of each search.
  works: [
    'read',
    'list',
    'list-totals',
    'list-totals-writes',
    'create',
    'mixed',
    'beside-offset',
    'first-seconds',
    'cold-start',
  ],
  command: async (place) => servingBknd(place),
}

const postgrest: Contender = {
  name: 'PostgREST',
  kind: 'peers',
  owner: 'peers',
  dialect: postgrestDialect,
  command: servingPostgrest,
}

let bundling: Promise<string> | undefined

/** As the manual's page on speed advises for starts: a bundle, and Node's compile cache. */
const bundledItself: Contender = {
  ...own('fieldgate as a bundle', 'own', NODE, 'node'),
  works: ['cold-start'],
  command: async (place) => {
    bundling ??= bundled('fieldgate/node')
    const main = await bundling
    return ['env', `NODE_COMPILE_CACHE=${dirname(main)}/compiled`, ...NODE, main, place]
  },
}

const fieldgate = [
  own('fieldgate', 'own', NODE, 'node'),
  bundledItself,
  own(
    'fieldgate on Deno',
    'runtimes',
    // deno.json of this repository leads to the sources.
    [file('deno/deno'), 'run', '--allow-all', '--no-lock', '--no-check', '--no-config', MODULES],
    'deno',
  ),
  own('fieldgate on Bun', 'runtimes', [file('bun/bin/bun.exe')], 'bun'),
]

const onWorkerd = (
  name: string,
  kind: Contender['kind'],
  owner: Owner,
  bundle: string,
): Contender => ({
  name,
  kind,
  owner,
  command: async (place) => [...NODE, FROM_SOURCE, serveWorker, bundle, place],
})

/** fieldgate, its runtimes, the limit and the peers of each store. */
export const contenders: Readonly<Record<StoreName, readonly Contender[]>> = {
  sqlite: [...fieldgate, peer(LIMIT, 'bare/sqlite'), lessDurable, walking, pocketbaseItself, bknd],
  postgres: [
    ...fieldgate,
    peer(LIMIT, 'bare/postgres'),
    peer('Hono+Drizzle', 'hono'),
    peer('Fastify+pg', 'fastify'),
    { ...peer('Feathers', 'feathers'), dialect: feathersDialect },
    // npm has its program for this processor alone.
    ...(process.arch === 'x64' ? [postgrest] : []),
  ],
  mongodb: [
    ...fieldgate,
    peer(LIMIT, 'bare/mongodb'),
    peer('Hono', 'hono'),
    peer('Fastify', 'fastify'),
    peer('Express+Mongoose', 'express'),
  ],
  d1: [
    onWorkerd('fieldgate', 'own', 'fieldgate', bundleOf('fieldgate')),
    onWorkerd(LIMIT, 'peers', 'peers', bundleOf('limit')),
  ],
}
