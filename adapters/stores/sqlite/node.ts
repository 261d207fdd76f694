/**
 * SQLite through node:sqlite, on Node, Deno and Bun: the store with nothing to install.
 *
 * @module
 */

import { DatabaseSync, type StatementSync } from 'node:sqlite'
import {
  type CollectionSchema,
  type Collection,
  DuplicateKey,
  type Fields,
  IndexConflict,
  type Read,
  type Store,
  StoreTimeout,
  StoreUnavailable,
} from '../../../src/ports/store.ts'
import { asExpected, changed } from './change.ts'
import { compileFilter, compileRead, expressionOf, identifier, shadowColumn, type Sql, type SqlValue } from './compile.ts'
import { project, reviver, shadowOf, textOf } from './rows.ts'

/** Where the database is. */
export interface SqliteOptions {
  /** A file's path. Default `':memory:'`, which ends with the process. */
  readonly path?: string
}

/** A store in one SQLite file. */
export function sqliteStore(options: SqliteOptions = {}): Store {
  const db = new DatabaseSync(options.path ?? ':memory:')
  db.exec('PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -64000; PRAGMA temp_store = MEMORY')
  const statements = new Map<string, StatementSync>()
  const prepare = (text: string): StatementSync => {
    let statement = statements.get(text)
    if (!statement) {
      if (statements.size >= 500) statements.clear()
      statement = db.prepare(text)
      statements.set(text, statement)
    }
    return statement
  }
  let closed = false
  const open = () => {
    if (closed) throw new StoreUnavailable('the SQLite store is closed')
  }
  let deadline = Number.POSITIVE_INFINITY
  let late = false
  db.function('in_time', () => {
    if (performance.now() > deadline) late = true
    return late ? 0 : 1
  })
  const timed = <T>(limitMs: number | undefined, run: () => T): T => {
    if (limitMs === undefined) return run()
    deadline = performance.now() + limitMs
    late = false
    try {
      const result = run()
      if (late || performance.now() > deadline) throw new StoreTimeout(`a query took longer than ${limitMs} ms`)
      return result
    } finally {
      deadline = Number.POSITIVE_INFINITY
      late = false
    }
  }
  const all = (sql: Sql): Record<string, SqlValue>[] =>
    prepare(sql.text).all(...sql.values) as Record<string, SqlValue>[]

  interface Write { run: () => unknown; resolve: (value: never) => void; reject: (error: unknown) => void }
  let queue: Write[] = []
  const flush = () => {
    const batch = queue
    queue = []
    if (batch.length === 0) return
    const outcomes: { ok: boolean; value: unknown }[] = []
    try {
      db.exec('BEGIN IMMEDIATE')
      for (const write of batch) {
        try {
          outcomes.push({ ok: true, value: write.run() })
        } catch (error) {
          outcomes.push({ ok: false, value: error })
        }
      }
      db.exec('COMMIT')
    } catch (error) {
      try { db.exec('ROLLBACK') } catch {}
      for (const write of batch) write.reject(error)
      return
    }
    for (const [at, write] of batch.entries()) {
      const outcome = outcomes[at]
      if (outcome?.ok) write.resolve(outcome.value as never)
      else write.reject(outcome?.value)
    }
  }
  const written = <T>(run: () => T): Promise<T> => {
    if (closed) return Promise.reject(new StoreUnavailable('the SQLite store is closed'))
    return new Promise<T>((resolve, reject) => {
      queue.push({ run, resolve: resolve as never, reject })
      if (queue.length === 1) setImmediate(flush)
    })
  }

  const uniqueNames = new Map<string, readonly string[]>()

  return {
    name: 'sqlite',
    rawRegex: false,
    collection(schema) {
      return collectionOf(schema)
    },
    async prepare(schemas) {
      open()
      for (const schema of schemas) prepareTable(schema)
    },
    async close() {
      if (closed) return
      flush()
      closed = true
      statements.clear()
      db.close()
    },
  }

  function prepareTable(schema: CollectionSchema): void {
    const table = identifier(schema.name)
    db.exec(`CREATE TABLE IF NOT EXISTS ${table} (row INTEGER PRIMARY KEY, _id TEXT NOT NULL UNIQUE, doc TEXT NOT NULL)`)
    const columns = new Set(db.prepare(`SELECT name FROM pragma_table_info(?)`).all(schema.name).map((row) => row.name))
    const missing = schema.searchable.filter((path) => !columns.has(shadowColumn(path)))
    if (missing.length > 0) {
      db.exec('BEGIN IMMEDIATE')
      for (const path of missing) db.exec(`ALTER TABLE ${table} ADD COLUMN ${identifier(shadowColumn(path))} TEXT`)
      const sets = missing.map((path) => `${identifier(shadowColumn(path))} = ?`).join(', ')
      const update = db.prepare(`UPDATE ${table} SET ${sets} WHERE row = ?`)
      for (const { row, doc } of db.prepare(`SELECT row, doc FROM ${table}`).all()) {
        const record = JSON.parse(String(doc)) as Fields
        update.run(...missing.map((path) => shadowOf(schema, path, record)), row as number)
      }
      db.exec('COMMIT')
    }
    const index = (name: string, unique: boolean, keys: readonly string[]) =>
      db.exec(`CREATE ${unique ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS ${identifier(name)} ON ${table} (${keys.join(', ')})`)
    for (const fields of schema.unique) {
      const name = `${schema.name}:unique:${fields.join(',')}`
      uniqueNames.set(name, fields)
      try {
        index(name, true, fields.map((field) => expressionOf(field)))
      } catch (error) {
        throw new IndexConflict(schema.name, fields, { cause: error })
      }
    }
    for (const keys of schema.indexes) {
      const name = `${schema.name}:${keys.map((key) => (key.descending ? `-${key.field}` : key.field)).join(',')}`
      const last = keys.some((key) => key.field === '_id') ? [] : ['_id']
      index(name, false, [...keys.map((key) => `${expressionOf(key.field)}${key.descending ? ' DESC' : ''}`), ...last])
    }
  }

  function translated(error: unknown): unknown {
    const message = String((error as Error).message)
    const name = /UNIQUE constraint failed: index '(.*)'/.exec(message)?.[1]
    if (name !== undefined) return new DuplicateKey(uniqueNames.get(name) ?? [name], { cause: error })
    if (/UNIQUE constraint failed: .*\._id/.test(message)) return new DuplicateKey(['_id'], { cause: error })
    return error
  }

  function collectionOf(schema: CollectionSchema): Collection {
    const table = identifier(schema.name)
    const revive = reviver(schema.shape)
    const select = (read: Read): string[] => {
      open()
      const { timeLimitMs } = read.hints ?? {}
      return timed(timeLimitMs, () => {
        const compiled = compileRead(schema, read, 'doc')
        const text = timeLimitMs === undefined ? compiled.text : compiled.text.replaceAll(' WHERE ', ' WHERE in_time() AND ')
        return all({ text, values: compiled.values }).map((row) => String(row.doc))
      })
    }
    const shadows = () => schema.searchable
    const save = (record: Fields, before: string | undefined) => {
      const columns = ['_id', 'doc', ...shadows().map((path) => identifier(shadowColumn(path)))]
      const values = [String(record._id), textOf(record), ...shadows().map((path) => shadowOf(schema, path, record))]
      try {
        if (before === undefined) {
          prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`).run(...values)
        } else {
          prepare(`UPDATE ${table} SET ${columns.map((column) => `${column} = ?`).join(', ')} WHERE _id = ?`).run(...values, before)
        }
      } catch (error) {
        throw translated(error)
      }
    }
    const matching = (filter: Read['filter'], limit: number) => select({ filter, sort: [], limit })
    return {
      async find(read) {
        return select(read).map((text) => project(revive(text), read.select))
      },
      async findJson(read) {
        const texts = select(read)
        return read.select ? texts.map((text) => JSON.stringify(project(JSON.parse(text), read.select))) : texts
      },
      async count(filter, hints) {
        open()
        const where = compileFilter(schema, filter)
        const guard = hints?.timeLimitMs === undefined ? '' : 'in_time() AND '
        return timed(hints?.timeLimitMs, () =>
          Number(all({ text: `SELECT count(*) AS total FROM ${table} WHERE ${guard}${where.text}`, values: where.values })[0]?.total),
        )
      },
      async estimate() {
        open()
        return Number(all({ text: `SELECT count(*) AS total FROM ${table}`, values: [] })[0]?.total)
      },
      insert: (record) => written(() => save(record, undefined)),
      update: (filter, change, options) =>
        written(() => {
          const [text] = matching(filter, 1)
          if (text === undefined) return null
          const before = revive(text)
          if (!asExpected(before, options?.expect)) return null
          const after = changed(before, change)
          save(after, String(before._id))
          return revive(textOf(after))
        }),
      updateMany: (filter, change) =>
        written(() => {
          const texts = matching(filter, Number.MAX_SAFE_INTEGER)
          for (const text of texts) {
            const before = revive(text)
            save(changed(before, change), String(before._id))
          }
          return texts.length
        }),
      delete: (filter, options) =>
        written(() => {
          const [text] = matching(filter, 1)
          if (text === undefined) return null
          const record = revive(text)
          if (!asExpected(record, options?.expect)) return null
          prepare(`DELETE FROM ${table} WHERE _id = ?`).run(String(record._id))
          return record
        }),
    }
  }
}
