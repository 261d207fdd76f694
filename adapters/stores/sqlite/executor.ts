/**
 * The SQLite store over a database that is asked by calls: D1, libSQL, or the storage of a Durable Object.
 *
 * Every write is one statement or one batch, which the database runs atomically. There are no regular expressions.
 *
 * @module
 */

import {
  type CollectionSchema,
  IndexConflict,
  type LeftOver,
  type ReadHints,
  type Store,
  StoreTimeout,
  StoreUnavailable,
} from '../../../src/ports/store.ts'
import { newEpoch } from '../changes/position.ts'
import { openLog } from './changes/log.ts'
import { createLog, dropOld, hasLog } from './changes/log-tables.ts'
import { watchWrites } from './connection/watch.ts'
import { portError } from './layout/errors.ts'
import type { Runner } from './layout/runner.ts'
import {
  CREATE_SHAPES,
  newShapes,
  noteShapes,
  READ_SHAPES,
  type Shapes,
  shapesIn,
} from './layout/schema-stamps.ts'
import type { Statement } from './layout/sql.ts'
import { type Migration, takeDrops, takeSteps } from './schema/migration.ts'
import {
  checkNames,
  columnsOf,
  dropsOf,
  type Existing,
  existingIn,
  isEmpty,
  leftOversIn,
  OBJECTS,
  stepsTo,
  warningsOf,
} from './schema/steps-to.ts'
import { openCollection } from './statements/collection.ts'
import { stepWriter } from './statements/steps.ts'

/** A statement in SQLite's SQL. */
export interface SqliteStatement {
  readonly sql: string
  /** The values of its parameters `?1`, `?2` and so on. */
  readonly values: readonly (string | number)[]
}

/** The result of a statement. */
export interface SqliteResult {
  /** Its rows, by the names of their columns. */
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  /** How many rows it changed. Of a read, anything. */
  readonly changes: number
}

/** A database that speaks SQLite's SQL. Its functions throw what its driver throws, with SQLite's message. */
export interface Executor {
  /** The store's name. */
  readonly name: string
  /** How people call the database, for warnings. */
  readonly title: string
  /** The most bytes that the SQL of a statement may have, if there is a limit. */
  readonly maxBytes?: number
  /** The most fields of a collection that may be searched, if there is a limit. */
  readonly maxSearched?: number
  /** Runs a statement, atomically; resolves when what it changed is on disk. */
  run(statement: SqliteStatement): Promise<SqliteResult>
  /** Runs statements in one transaction: either all take effect or none. */
  batch(statements: readonly SqliteStatement[]): Promise<readonly SqliteResult[]>
  /** Closes the connection, when the app has closed and no statement is under way. */
  close?(): void
}

/** A store in a database that speaks the SQL of SQLite 3.45 or newer: you write how it runs statements. */
export function executorStore(executor: Executor): Store {
  const underWay = new Set<Promise<unknown>>()
  const shapes: { all: Shapes } = { all: new Map() }
  let closed = false

  async function tracked<T>(work: () => Promise<T>): Promise<T> {
    if (closed) throw new StoreUnavailable('the store has been closed')
    const working = work()
    underWay.add(working)
    try {
      return await working
    } finally {
      underWay.delete(working)
    }
  }

  async function run<T>(schema: CollectionSchema | undefined, work: () => Promise<T>): Promise<T> {
    try {
      return await tracked(work)
    } catch (error) {
      throw portError(error, schema)
    }
  }

  function perform(statement: Statement): Promise<SqliteResult> {
    refusePatterns(statement, executor)
    return executor.run(statement)
  }

  function runnerOf(schema: CollectionSchema): Runner {
    const read = (statement: Statement, { timeLimitMs }: ReadHints = {}) =>
      run(schema, async () => (await inTime(() => perform(statement), timeLimitMs)).rows)
    return {
      ...(executor.maxBytes !== undefined && { maxBytes: executor.maxBytes }),
      shapes,
      read,
      count: async (statement, _, hints) => Number((await read(statement, hints))[0]?.count),
      write: (statement) => run(schema, () => perform(statement)),
    }
  }

  const log = openLog((statement) => tracked(async () => (await executor.run(statement)).rows))

  return {
    name: executor.name,
    rawRegex: false,
    guards: true,
    changes: log,
    collection: (schema) => openCollection(schema, runnerOf(schema)),
    write: stepWriter(runnerOf, log, (_, statements) =>
      tracked(() => {
        for (const statement of statements) refusePatterns(statement, executor)
        return executor.batch(statements)
      }),
    ),
    copying: {
      // The service decides which of SQLite's functions it allows.
      watch: () =>
        watchWrites(async (statement) => (await executor.run(statement)).rows).catch(
          () => undefined,
        ),
    },
    async prepare(schemas, warn = () => {}) {
      checkNames(schemas, executor.maxSearched)
      if (schemas.length === 0) return
      const found = await run(undefined, () => prepareAll(executor, schemas))
      shapes.all = found.shapes
      log.prepared(schemas)
      const old = log.logged.flatMap(dropOld)
      if (old.length > 0) await run(undefined, () => executor.batch(old))
      for (const message of warningsOf(executor.title, schemas, found.existing)) warn(message)
    },
    dropLeftOvers: (schemas) => run(undefined, () => dropLeftOvers(executor, schemas)),
    async close() {
      if (closed) return
      closed = true
      await Promise.allSettled(underWay)
      executor.close?.()
    },
  }
}

function refusePatterns({ patterns }: Statement, { title }: Executor): void {
  if (patterns) throw new TypeError(`${title} has no regular expressions`)
}

/** A query that runs on is not interrupted: D1's own limit is half a minute. */
async function inTime<T>(ask: () => Promise<T>, limitMs: number | undefined): Promise<T> {
  if (limitMs === undefined) return ask()
  const deadline = Date.now() + limitMs
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => late.resolve(undefined), limitMs)
  const answer = await Promise.race([ask(), late.promise]).finally(() => clearTimeout(timer))
  // The query may have kept the timer from firing.
  if (answer === undefined || Date.now() > deadline) {
    throw new StoreTimeout(`a read took longer than ${limitMs} ms`)
  }
  return answer
}

/** What a database knows. */
interface Found {
  readonly existing: Existing
  /** The shapes that have written to it. */
  readonly shapes: Shapes
}

/**
 * Reads all of it in one round trip: a Worker that starts has no more queries than that, however many models there are.
 */
async function findIn(executor: Executor, schemas: readonly CollectionSchema[]): Promise<Found> {
  const statements = [columnsOf(schemas), OBJECTS, CREATE_SHAPES, READ_SHAPES]
  const answers = await executor.batch(statements)
  const [columns = [], objects = [], , shapes = []] = answers.map(({ rows }) => rows)
  return { existing: existingIn(columns, objects), shapes: shapesIn(shapes) }
}

/** Brings every table to its schema. Returns what there was before, and the shapes with those of `schemas`. */
async function prepareAll(
  executor: Executor,
  schemas: readonly CollectionSchema[],
): Promise<Found> {
  const { existing, shapes } = await findIn(executor, schemas)
  if (!hasLog(schemas, existing.made)) await executor.batch(createLog(newEpoch()))
  for (const schema of schemas) await prepareTable(executor, schema, existing)
  const added = newShapes(schemas, shapes)
  if (added.size > 0) await executor.run(noteShapes(added))
  return { existing, shapes: new Map([...shapes, ...added]) }
}

/** Another Worker may be taking the same steps: then the current state is read again. */
const MAX_TRIES = 5

async function prepareTable(
  executor: Executor,
  schema: CollectionSchema,
  before: Existing,
): Promise<void> {
  let existing = before
  for (let tries = 1; ; tries += 1) {
    const steps = stepsTo(schema, existing)
    if (isEmpty(steps)) return
    try {
      return await migrate(executor, takeSteps(schema, steps))
    } catch (error) {
      if (error instanceof IndexConflict || tries === MAX_TRIES) throw error
    }
    existing = (await findIn(executor, [schema])).existing
  }
}

async function dropLeftOvers(
  executor: Executor,
  schemas: readonly CollectionSchema[],
): Promise<LeftOver[]> {
  const { existing } = await findIn(executor, schemas)
  const left: LeftOver[] = []
  for (const schema of schemas) {
    const dropped = await migrate(executor, takeDrops(dropsOf(schema, existing)))
    left.push(...leftOversIn(schema, dropped))
  }
  return left
}

async function migrate<Result>(executor: Executor, migration: Migration<Result>): Promise<Result> {
  for (let step = migration.next(); ; ) {
    if (step.done) return step.value
    try {
      const answers = await executor.batch(step.value)
      step = migration.next(answers.at(-1)?.rows ?? [])
    } catch (error) {
      step = migration.throw(error)
    }
  }
}
