/** What consumers do in a database that was restored from a backup. */

import { MongoClient } from 'mongodb'
import connect from 'postgres'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { backUp } from '../../adapters/stores/sqlite/connection/backup.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { consume } from '../../src/background/changes/index.ts'
import { type App, defineModel, type Store } from '../../src/index.ts'
import { fileOfTest } from '../log/proof/file.ts'
import { withService } from '../services/shared.ts'
import { freshDatabases } from '../stores/mongodb/databases.ts'
import { apps, callsWhileDue } from './apps.ts'

const fields = { text: z.string() }
const Note = defineModel('Note', { fields, changes: { keep: 'forever' } })
const Memo = defineModel('Memo', { fields, changes: { keep: 'forever' } })

/** The consumer's calls in the database that `open` opens, and in the copy of it that `restore` makes. */
async function goesOn(open: () => Store, restore: () => Promise<() => Store>): Promise<void> {
  const calls: string[] = []
  const version = async (its: ReturnType<typeof apps>, ...models: (typeof Note)[]) => {
    const app = its.app()
    consume(app, 'mailer', {
      models,
      async handle({ after }, { attempt }) {
        calls.push(`${after?.text} ${attempt}`)
        if (after?.text === 'fails') throw new Error('not yet')
      },
    })
    for (const model of [Note, Memo]) app.store.collection(model)
    await app.ready()
    return app
  }
  /** Runs what is due, until there were so many calls. */
  const due = (app: App, count: number) => callsWhileDue(app, calls).toBeGreaterThanOrEqual(count)
  const it = apps('2026-11-26T12:00:00Z', open)
  const app = await version(it, Note)
  const write = async (text: string, model = Note) => app.store.collection(model).insert({ text })
  for (const text of ['a', 'b', 'fails']) await write(text)
  // Of transactions of others, the log may be read a moment later.
  await due(app, 3)
  await write('c')
  // A version that was killed before it had caught up with what it has added.
  await write('of a memo', Memo)
  await (await version(it, Note, Memo)).close()
  await app.close()

  const restored = apps('2026-11-26T13:00:00Z', await restore())
  const later = await version(restored, Note, Memo)
  await later.store.collection(Note).insert({ text: 'new' })
  calls.length = 0
  await due(later, 4)
  expect(calls.toSorted()).toEqual(['c 1', 'fails 2', 'new 1', 'of a memo 1'])
  expect(await later.background[0]?.status()).toMatchObject({ waiting: 1, aside: 0 })
  expect(restored.log.text).not.toContain('goes on with the oldest change')
}

it('SQLite: consumers go on where they were at the time of the backup', async () => {
  const [path, copy] = [fileOfTest(), fileOfTest()]
  const restore = async () => {
    backUp(path, copy)
    return () => sqliteStore({ path: copy })
  }
  await goesOn(() => sqliteStore({ path }), restore)
})

await withService('postgres', ({ url }) => {
  it('PostgreSQL: consumers go on where they were at the time of the backup', async () => {
    const [name, copy] = [0, 1].map((at) => `restored_${Date.now().toString(36)}_${at}`)
    const at = (database = '') => Object.assign(new URL(url), { pathname: database }).href
    const sql = connect(url, { max: 1, onnotice() {} })
    onTestFinished(async () => {
      for (const one of [name, copy]) await sql.unsafe(`DROP DATABASE IF EXISTS ${one}`)
      await sql.end()
    })
    await sql.unsafe(`CREATE DATABASE ${name}`)
    // A database with another number, as one that a dump is restored to.
    const restore = async () => {
      const made = () => sql.unsafe(`CREATE DATABASE ${copy} TEMPLATE ${name}`).then(() => true)
      await expect.poll(() => made().catch(() => false)).toBe(true)
      return () => postgresStore({ url: at(copy) })
    }
    await goesOn(() => postgresStore({ url: at(name) }), restore)
  })
})

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  it('MongoDB: consumers go on where they were at the time of the backup', async () => {
    const [database, copy] = [fresh(), fresh()]
    const restore = async () => {
      const client = await MongoClient.connect(url)
      for (const { name } of await client.db(database).listCollections().toArray()) {
        const all = await client.db(database).collection(name).find().toArray()
        if (all.length > 0) await client.db(copy).collection(name).insertMany(all)
      }
      await client.close()
      return () => mongoStore({ url, database: copy })
    }
    await goesOn(() => mongoStore({ url, database }), restore)
  })
})
