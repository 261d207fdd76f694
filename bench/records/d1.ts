/**
 * The records in D1 databases on this machine, which live as long as the run.
 *
 * @module
 */

import { cpSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { bundled } from '../../test/http/workerd.ts'
import { workerd } from '../d1/workerd.ts'
import { askedOf } from './asked.ts'
import {
  cursorOf,
  type Database,
  type Databases,
  type Owner,
  prepareFieldgate,
} from './database.ts'
import { fillStore } from './fill.ts'
import { fillPeers } from './sqlite.ts'

const folder = fileURLToPath(new URL('../../.cache/bench/d1/', import.meta.url))

/** Whose bundle is where. */
const BUNDLES = { fieldgate: '../fieldgate/worker.ts', limit: '../peers/bare/worker.ts' } as const

/** The bundle that `d1/serve.ts` serves. */
export function bundleOf(name: keyof typeof BUNDLES): string {
  return `${folder}${name}.mjs`
}

/** Bundles the Workers. */
export async function d1Server(): Promise<Databases> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const name of ['fieldgate', 'limit'] as const) {
    const bundle = await bundled(new URL(BUNDLES[name], import.meta.url), true)
    writeFileSync(bundleOf(name), bundle)
  }
  return { database: d1Database, stop: async () => undefined }
}

async function d1Database(size: number): Promise<Database> {
  const asked = askedOf(size)
  const owners: Owner[] = ['fieldgate', 'peers']
  const path = (owner: Owner) => `${folder}${owner}-${size}`
  const copy = `${folder}${process.pid}-run`
  const own = await emptyDatabase(path('fieldgate'))
  await fillStore(sqliteStore({ path: own }), size)
  await prepareFieldgate(own, asked)
  fillPeers(await emptyDatabase(path('peers')), asked)
  return {
    asked,
    cursor: await cursorOf(asked),
    owners,
    place(owner, writes) {
      if (!writes) return path(owner)
      rmSync(copy, { recursive: true, force: true })
      cpSync(path(owner), copy, { recursive: true })
      return copy
    },
    async tidy() {
      rmSync(copy, { recursive: true, force: true })
    },
    async close() {
      for (const owner of owners) rmSync(path(owner), { recursive: true, force: true })
    },
  }
}

/** The SQLite file of a new D1 database in `folder`. */
async function emptyDatabase(folder: string): Promise<string> {
  const running = workerd(folder)
  const database = await running.getD1Database('DB')
  await database.prepare('SELECT 1').all()
  await running.dispose()
  const [file] = globSync(`${folder}/**/*.sqlite`).filter((path) => !path.includes('metadata'))
  if (file === undefined) throw new Error(`no D1 database in ${folder}`)
  return file
}
