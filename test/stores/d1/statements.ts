/**
 * D1 bindings that note what is asked of them, and one that stands for D1 without workerd.
 *
 * @module
 */

import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { D1Answer, D1Binding, D1Statement } from '../../../adapters/stores/sqlite/calls/d1.ts'

/** A statement that has been asked. */
export interface Asked {
  readonly sql: string
  readonly bytes: number
  /** How many values were bound. */
  readonly bound: number
}

/** A binding, and what has been asked of it. */
export interface Noted {
  readonly binding: D1Binding
  readonly statements: Asked[]
}

/** `binding`, whose statements are noted when they are bound. */
export function watchedD1(binding: D1Binding): Noted {
  const statements: Asked[] = []
  const own = new WeakMap<D1Statement, D1Statement>()
  const watched = (sql: string, statement: D1Statement): D1Statement => {
    const one: D1Statement = {
      bind(...values) {
        statements.push({ sql, bytes: Buffer.byteLength(sql), bound: values.length })
        return watched(sql, statement.bind(...values))
      },
      all: () => statement.all(),
    }
    own.set(one, statement)
    return one
  }
  return {
    statements,
    binding: {
      prepare: (sql) => watched(sql, binding.prepare(sql)),
      batch: (all) => binding.batch(all.map((one) => own.get(one) ?? one)),
    },
  }
}

interface Ready extends D1Statement {
  run(): D1Answer
}

/** The most bytes of a statement that D1 takes. */
export const MOST_BYTES = 100_000

/** An empty database of `node:sqlite` as a D1 binding, for tests that look at statements. It takes none that are longer. */
export function d1InMemory(): D1Binding {
  const db = new DatabaseSync(':memory:')
  const ready = (sql: string, values: SQLInputValue[]): Ready => {
    const run = () => {
      if (Buffer.byteLength(sql) > MOST_BYTES) {
        throw new Error('D1_ERROR: statement too long: SQLITE_TOOBIG')
      }
      const results = db.prepare(sql).all(...values) as D1Answer['results']
      return { results, meta: {} }
    }
    return {
      run,
      bind: (...bound) => ready(sql, bound as SQLInputValue[]),
      all: async () => run(),
    }
  }
  return {
    prepare: (sql) => ready(sql, []),
    async batch(statements) {
      db.exec('BEGIN')
      try {
        const answers = (statements as Ready[]).map((one) => one.run())
        db.exec('COMMIT')
        return answers
      } catch (error) {
        db.exec('ROLLBACK')
        throw error
      }
    },
  }
}
