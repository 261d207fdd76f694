/**
 * The servers of the comparison, on each store.
 *
 * @module
 */

import { fileURLToPath } from 'node:url'
import type { Owner } from './records/database.ts'

/** A store. */
export type StoreName = 'sqlite' | 'mongodb'

/** A server that is measured. */
export interface Contender {
  readonly name: string
  /** fieldgate on Node, on another runtime, or somebody else. */
  readonly kind: 'own' | 'runtimes' | 'peers'
  readonly owner: Owner
  /** The program that runs the script, and its arguments. */
  readonly runtime: readonly string[]
  /** Relative to `bench/`. */
  readonly script: string
}

const file = (path: string) => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url))
const NODE = [process.execPath, '--no-warnings']

/** The name of the limit, beside which the others are measured. */
export const LIMIT = 'limit'

const node: Contender = {
  name: 'fieldgate',
  kind: 'own',
  owner: 'fieldgate',
  runtime: NODE,
  script: 'fieldgate/node',
}
const deno: Contender = {
  name: 'fieldgate on Deno',
  kind: 'runtimes',
  owner: 'fieldgate',
  runtime: [file('deno/deno'), 'run', '--allow-all', '--no-lock', '--no-check'],
  script: 'fieldgate/deno',
}
const bun: Contender = {
  name: 'fieldgate on Bun',
  kind: 'runtimes',
  owner: 'fieldgate',
  runtime: [file('bun/bin/bun.exe')],
  script: 'fieldgate/bun',
}
const peer = (name: string, script: string): Contender => ({
  name,
  kind: 'peers',
  owner: 'peers',
  runtime: NODE,
  script: `peers/${script}`,
})

/** fieldgate, its runtimes, the limit and the peers of each store. */
export const contenders: Readonly<Record<StoreName, readonly Contender[]>> = {
  sqlite: [node, deno, bun, peer(LIMIT, 'bare/sqlite')],
  mongodb: [
    node,
    deno,
    bun,
    peer(LIMIT, 'bare/mongodb'),
    peer('Hono', 'hono'),
    peer('Fastify', 'fastify'),
    peer('Express+Mongoose', 'express'),
  ],
}
