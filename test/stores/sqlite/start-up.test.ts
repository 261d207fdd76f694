import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  executorStore,
  type SqliteResult,
  type SqliteStatement,
} from '../../../adapters/stores/sqlite/calls/executor.ts'
import { libsqlStore } from '../../../adapters/stores/sqlite/calls/libsql.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { people } from '../../../extras/contract/store/people.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { IndexConflict, StoreUnavailable } from '../../../src/ports/store/store-errors.ts'

const EMAIL = { ...people, unique: [['email']], indexes: [], searchable: [] }
const NAME = 'people unique ["email"]'
const QUOTED = `"${NAME.replaceAll('"', '""')}"`

/** A database in which the rule is of another release, with other SQL; and stores that ask it by calls. */
function database() {
  const db = new DatabaseSync(':memory:')
  const run = ({ sql, values }: SqliteStatement): SqliteResult => {
    return { rows: db.prepare(sql).all(...values) as never, changes: 0 }
  }
  /** `between` is called between the batches. */
  const open = (between = async (_batches: number) => {}): Store => {
    let batches = 0
    return executorStore({
      name: 'calls',
      title: 'Calls',
      run: async (statement) => run(statement),
      async batch(statements) {
        if (batches > 0) await between(batches)
        batches += 1
        db.exec('BEGIN')
        try {
          const results = statements.map(run)
          db.exec('COMMIT')
          return results
        } catch (error) {
          db.exec('ROLLBACK')
          throw error
        }
      },
    })
  }
  const rule = () => db.prepare('SELECT sql FROM sqlite_master WHERE name = ?').get(NAME)?.sql
  return { db, open, rule }
}

async function withOtherRule() {
  const { db, open, rule } = database()
  await open().prepare([EMAIL])
  db.exec(`DROP INDEX ${QUOTED}; CREATE UNIQUE INDEX ${QUOTED} ON people (doc ->> 'email')`)
  return { db, open, rule }
}

it('a process that made an index of new never lacks it again, though another has looked before', async () => {
  const { open, rule } = await withOtherRule()
  const seen: unknown[] = []
  const late = open(async (batches) => {
    if (batches === 1) await open().prepare([EMAIL])
    seen.push(rule())
  })
  await late.prepare([EMAIL])
  expect(seen).not.toContain(undefined)
  expect(rule()).toContain('json_extract')
})

it('where records clash with the new index, the one of the other release stays', async () => {
  const { db, open, rule } = await withOtherRule()
  const insert = db.prepare('INSERT INTO people (_id, doc) VALUES (?, ?)')
  db.exec(`DROP INDEX ${QUOTED}; CREATE UNIQUE INDEX ${QUOTED} ON people (doc ->> 'name')`)
  for (const id of ['a', 'b']) insert.run(id, JSON.stringify({ name: id, email: 'same' }))
  await expect(open().prepare([EMAIL])).rejects.toThrow(IndexConflict)
  expect(rule()).toContain("doc ->> 'name'")
})

/** A file with a table, which another program has open. */
async function heldFile(sql: string) {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-start-up-'))
  const path = join(folder, 'app.db')
  const other = new DatabaseSync(path)
  other.exec(sql)
  onTestFinished(async () => {
    vi.restoreAllMocks()
    other.close()
    await rm(folder, { recursive: true })
  })
  return { path, other }
}

it.each([
  ['the whole file, before it is set up', 'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE'],
  [
    'the lock for writes, while a table is to be made',
    'PRAGMA journal_mode = WAL; BEGIN IMMEDIATE',
  ],
])(
  'a start is unavailable while another program keeps %s, and the next one is not',
  async (_, sql) => {
    const { path, other } = await heldFile(sql)
    const store = sqliteStore({ path })
    const later = performance.now.bind(performance)
    let looks = 0
    vi.spyOn(performance, 'now').mockImplementation(() => {
      looks += 1
      return later() + looks * 3000
    })
    await expect(store.prepare([people])).rejects.toThrow(StoreUnavailable)
    vi.restoreAllMocks()
    other.exec('COMMIT; PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_master')
    await store.prepare([people])
    await store.close?.()
  },
)

it.each([
  'CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)',
  'CREATE TABLE people (_id TEXT PRIMARY KEY, doc TEXT)',
  'CREATE VIEW people AS SELECT 1 AS name',
])('a table of another program is named, and stays as it is: %s', async (sql) => {
  const { path, other } = await heldFile(sql)
  const store = sqliteStore({ path })
  await expect(store.prepare([people])).rejects.toThrow(
    "the table 'people' exists, but has no column 'rowid', so fieldgate did not create it. Give the model another 'collection'",
  )
  await store.close?.()
  const made = other.prepare("SELECT sql FROM sqlite_master WHERE tbl_name = 'people'").all()
  expect(made.flatMap((one) => one.sql ?? [])).toEqual([sql])
})

it('text in UTF-16, whose strings SQLite sorts otherwise, is an error that says what to do', async () => {
  const { path } = await heldFile("PRAGMA encoding = 'UTF-16le'; CREATE TABLE other (a)")
  expect(() => sqliteStore({ path })).toThrow(
    `'${path}' cannot be opened: its text is in UTF-16. Copy it to a new file: sqlite3 old.db .dump | sqlite3 new.db`,
  )
})

describe.each([
  ['SQLite', (path: string) => sqliteStore({ path })],
  ['libSQL', (path: string) => libsqlStore({ url: `file:${path}` })],
])('a write to a file of %s is refused, for it would be lost', (_, open) => {
  it.each([
    ['removed', ''],
    ['replaced', 'CREATE TABLE other (a)'],
  ])('that was %s while it is open', async (_, sql) => {
    const { path } = await heldFile('CREATE TABLE other (a)')
    const store = open(path)
    await store.prepare([people])
    const written = store.collection(people)
    await written.insert({ _id: 'a', name: 'a', email: 'a' })
    await rename(path, `${path}-before`)
    if (sql !== '') new DatabaseSync(path).exec(sql)
    const lost = written.insert({ _id: 'b', name: 'b', email: 'b' })
    const error: StoreUnavailable = await lost.catch((thrown) => thrown)
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(`${error.message} ${error.cause}`).toContain(
      `'${path}' was replaced or removed while it was open. Start the app again`,
    )
    await rm(path, { force: true })
    await rename(`${path}-before`, path)
    await written.insert({ _id: 'c', name: 'c', email: 'c' })
    await store.close?.()
  })

  it('and none is, where the program has gone to another folder', async () => {
    const { path } = await heldFile('CREATE TABLE other (a)')
    const before = process.cwd()
    onTestFinished(() => process.chdir(before))
    process.chdir(dirname(path))
    const store = open(basename(path))
    await store.prepare([people])
    process.chdir(before)
    const written = store.collection(people)
    await written.insert({ _id: 'a', name: 'a', email: 'a' })
    expect(await written.estimate()).toBe(1)
    await store.close?.()
  })
})
