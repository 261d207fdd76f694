/**
 * The servers of the comparison, on each store.
 *
 * @module
 */

import { fileURLToPath } from 'node:url'
import { built } from './build.ts'
import type { Owner } from './records/database.ts'
import { pocketbase, serving } from './records/pocketbase.ts'

/** A store. */
export type StoreName = 'sqlite' | 'mongodb' | 'postgres'

/** A server that is measured. */
export interface Contender {
  readonly name: string
  /** fieldgate on Node, on another runtime, or somebody else. */
  readonly kind: 'own' | 'runtimes' | 'peers'
  readonly owner: Owner
  /** What starts it on the records at `place`. */
  command(place: string): Promise<readonly string[]>
}

const file = (path: string) => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url))
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

const pocketbaseItself: Contender = {
  name: 'PocketBase',
  kind: 'peers',
  owner: 'pocketbase',
  command: async (place) => serving((await pocketbase()) ?? '', place),
}

const fieldgate = [
  own('fieldgate', 'own', NODE, 'node'),
  own(
    'fieldgate on Deno',
    'runtimes',
    // deno.json of this repository leads to the sources.
    [file('deno/deno'), 'run', '--allow-all', '--no-lock', '--no-check', '--no-config', MODULES],
    'deno',
  ),
  own('fieldgate on Bun', 'runtimes', [file('bun/bin/bun.exe')], 'bun'),
]

/** fieldgate, its runtimes, the limit and the peers of each store. */
export const contenders: Readonly<Record<StoreName, readonly Contender[]>> = {
  sqlite: [...fieldgate, peer(LIMIT, 'bare/sqlite'), pocketbaseItself],
  postgres: [...fieldgate, peer(LIMIT, 'bare/postgres')],
  mongodb: [
    ...fieldgate,
    peer(LIMIT, 'bare/mongodb'),
    peer('Hono', 'hono'),
    peer('Fastify', 'fastify'),
    peer('Express+Mongoose', 'express'),
  ],
}
