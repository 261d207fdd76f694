/** What the manual says to erase a record from the log: it goes, and consumers go on where they were. */

import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { MongoClient } from 'mongodb'
import connect from 'postgres'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { consume } from '../../src/background/changes/index.ts'
import { createRouter, defineModel, type Store } from '../../src/index.ts'
import { fileOfTest } from '../log/proof/file.ts'
import { withService } from '../services/shared.ts'
import { freshDatabases } from '../stores/mongodb/databases.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { apps, callsWhileDue } from './apps.ts'

const User = defineModel('User', { fields: { name: z.string() }, changes: { keep: 'forever' } })
const page = readFileSync(new URL('../../docs/changes.md', import.meta.url), 'utf8')

/** The manual's block for `store`, for the record with this id. */
function block(store: string, id: string): string {
  const [, code = ''] = page.split(`\n${store}:\n\n\`\`\`\n`)[1]?.match(/^([^]*?)\n```/) ?? []
  expect(code).toContain('692200c0ad1f5a7d3e000001')
  return code.replaceAll('692200c0ad1f5a7d3e000001', id)
}

async function erases(
  open: () => Store,
  erase: (id: string) => unknown,
  all: () => unknown,
): Promise<void> {
  const its = apps('2026-11-26T12:00:00Z', open)
  const calls: unknown[] = []
  let isDown = true
  const app = its.app()
  app.mount('/users', createRouter({ model: User, middlewares: [], history: true }))
  consume(app, 'crm', {
    models: [User],
    handle({ kind, after }) {
      calls.push(`${kind} ${after?.name}`)
      if (isDown) throw new Error('is down')
    },
  })
  await app.ready()
  const users = app.store.collection(User)
  const ran = (count: number) => callsWhileDue(app, calls).toBe(count)
  await users.insert({ name: 'Bob' })
  await ran(1)
  const { _id } = await users.insert({ name: 'Zaphod' })
  await users.update(_id, { name: 'Zaphod B.' })
  await users.delete(_id)
  await ran(2)
  expect(JSON.stringify(await all())).toContain('Zaphod')

  await erase(_id)
  expect(JSON.stringify(await all())).not.toContain('Zaphod')
  isDown = false
  calls.length = 0
  await users.insert({ name: 'Cleo' })
  its.clock.at += 60_000
  await ran(2)
  expect(calls).toEqual(expect.arrayContaining(['created Bob', 'created Cleo']))
  const history = await app.handle(new Request(`http://localhost/users/${_id}/history`))
  const { data } = (await history.json()) as { data: { kind: string; changes: object }[] }
  expect(data.map(({ kind, changes }) => [kind, changes])).toEqual([
    ['removed', {}],
    ['created', {}],
  ])
}

it('SQLite', async () => {
  const path = fileOfTest()
  const at = <T>(work: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(path)
    try {
      return work(database)
    } finally {
      database.close()
    }
  }
  const rows = (database: DatabaseSync) =>
    ['fieldgate_changes', 'fieldgate_held_changes', 'users'].map((table) =>
      database.prepare(`SELECT * FROM ${table}`).all(),
    )
  const erase = (id: string) => at((database) => database.exec(block('SQLite, libSQL and D1', id)))
  await erases(
    () => sqliteStore({ path }),
    erase,
    () => at(rows),
  )
})

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  it('PostgreSQL', async () => {
    const schema = fresh()
    const sql = connect(url, { max: 1, connection: { search_path: schema }, onnotice() {} })
    const all = () => sql`SELECT change FROM fieldgate_held_changes
      UNION ALL SELECT before FROM fieldgate_changes UNION ALL SELECT after FROM fieldgate_changes`
    const erase = (id: string) => sql.unsafe(block('PostgreSQL', id))
    await erases(() => postgresStore({ url, schema }), erase, all).finally(() => sql.end())
  })
})

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  it('MongoDB', async () => {
    const database = fresh()
    const client = await MongoClient.connect(url)
    const asked: Promise<unknown>[] = []
    // The shell's `db`, which waits for each call by itself.
    const db = new Proxy(
      {},
      {
        get: (_, name: string) => {
          const collection = client.db(database).collection(name)
          return {
            updateMany: (...given: [object, object]) => asked.push(collection.updateMany(...given)),
            deleteMany: (filter: object) => asked.push(collection.deleteMany(filter)),
          }
        },
      },
    )
    const erase = async (id: string) => {
      new Function('db', block("MongoDB's shell", id))(db)
      await Promise.all(asked)
    }
    const of = (name: string) => client.db(database).collection(name).find().toArray()
    const all = async () => [await of('fieldgate_changes'), await of('fieldgate_held_changes')]
    await erases(() => mongoStore({ url, database }), erase, all).finally(() => client.close())
  })
})
