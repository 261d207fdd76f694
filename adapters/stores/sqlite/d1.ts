/**
 * The SQLite store on Cloudflare D1, for Workers. Use it if your app runs only on Cloudflare.
 *
 * Every write is one statement or one batch, which D1 runs atomically. There are no regular expressions.
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
import type { Row, Statement, Written } from './layout/sql.ts'
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

/** The part of a D1 binding that the store uses; Cloudflare's `D1Database` fits. */
export interface D1Binding {
  prepare(sql: string): D1Statement
  /** Runs statements in one transaction. */
  batch(statements: D1Statement[]): Promise<D1Answer[]>
}

/** A prepared statement of a D1 binding. */
export interface D1Statement {
  bind(...values: unknown[]): D1Statement
  all(): Promise<D1Answer>
}

/** The result of a statement. */
export interface D1Answer {
  readonly results: readonly Row[]
  readonly meta: { readonly changes?: number }
}

/** A table of D1 has 100 columns, four of which are taken. */
const MAX_SEARCHED = 96

/** A store in a D1 database; `binding` is the one of your Worker's `env`. A write resolves when D1 has it on disk. */
export function d1Store(binding: D1Binding): Store {
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

  function runnerOf(schema: CollectionSchema): Runner {
    const read = (statement: Statement, { timeLimitMs }: ReadHints = {}) =>
      run(schema, async () => {
        const ask = () => bound(binding, statement).all()
        return (await inTime(ask, timeLimitMs)).results
      })
    return {
      maxBytes: MAX_BYTES,
      shapes,
      read,
      count: async (statement, _, hints) => Number((await read(statement, hints))[0]?.count),
      write: (statement) => run(schema, async () => written(await bound(binding, statement).all())),
    }
  }

  return {
    name: 'd1',
    rawRegex: false,
    collection: (schema) => openCollection(schema, runnerOf(schema)),
    write: stepWriter(runnerOf, (_, statements) =>
      tracked(async () => {
        const answers = await binding.batch(statements.map((one) => bound(binding, one)))
        return answers.map(written)
      }),
    ),
    copying: {
      // D1 decides which of SQLite's functions it allows.
      watch: () =>
        watchWrites(async (statement) => (await bound(binding, statement).all()).results).catch(
          () => undefined,
        ),
    },
    async prepare(schemas, warn = () => {}) {
      checkNames(schemas, MAX_SEARCHED)
      if (schemas.length === 0) return
      const found = await run(undefined, () => prepareAll(binding, schemas))
      shapes.all = found.shapes
      for (const message of warningsOf('D1', schemas, found.existing)) warn(message)
    },
    dropLeftOvers: (schemas) => run(undefined, () => dropLeftOvers(binding, schemas)),
    async close() {
      closed = true
      await Promise.allSettled(underWay)
    },
  }
}

function written({ results, meta }: D1Answer): Written {
  return { rows: results, changes: meta.changes ?? results.length }
}

function bound(binding: D1Binding, { sql, values, patterns }: Statement): D1Statement {
  if (patterns) throw new TypeError('D1 has no regular expressions')
  return binding.prepare(sql).bind(...values)
}

/** The longest SQL that D1 takes. */
const MAX_BYTES = 100_000

/** D1 cannot be interrupted; its own limit is half a minute. */
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
async function findIn(binding: D1Binding, schemas: readonly CollectionSchema[]): Promise<Found> {
  const statements = [columnsOf(schemas), OBJECTS, CREATE_SHAPES, READ_SHAPES]
  const answers = await binding.batch(statements.map((one) => bound(binding, one)))
  const [columns = [], objects = [], , shapes = []] = answers.map(({ results }) => results)
  return { existing: existingIn(columns, objects), shapes: shapesIn(shapes) }
}

/** Brings every table to its schema. Returns what there was before, and the shapes with those of `schemas`. */
async function prepareAll(
  binding: D1Binding,
  schemas: readonly CollectionSchema[],
): Promise<Found> {
  const { existing, shapes } = await findIn(binding, schemas)
  for (const schema of schemas) await prepareTable(binding, schema, existing)
  const added = newShapes(schemas, shapes)
  if (added.size > 0) await bound(binding, noteShapes(added)).all()
  return { existing, shapes: new Map([...shapes, ...added]) }
}

/** Another Worker may be taking the same steps: then the current state is read again. */
const MAX_TRIES = 5

async function prepareTable(
  binding: D1Binding,
  schema: CollectionSchema,
  before: Existing,
): Promise<void> {
  let existing = before
  for (let tries = 1; ; tries += 1) {
    const steps = stepsTo(schema, existing)
    if (isEmpty(steps)) return
    try {
      return await migrate(binding, takeSteps(schema, steps))
    } catch (error) {
      if (error instanceof IndexConflict || tries === MAX_TRIES) throw error
    }
    existing = (await findIn(binding, [schema])).existing
  }
}

async function dropLeftOvers(
  binding: D1Binding,
  schemas: readonly CollectionSchema[],
): Promise<LeftOver[]> {
  const { existing } = await findIn(binding, schemas)
  const left: LeftOver[] = []
  for (const schema of schemas) {
    const dropped = await migrate(binding, takeDrops(dropsOf(schema, existing)))
    left.push(...leftOversIn(schema, dropped))
  }
  return left
}

async function migrate<Result>(binding: D1Binding, migration: Migration<Result>): Promise<Result> {
  for (let step = migration.next(); ; ) {
    if (step.done) return step.value
    try {
      const answers = await binding.batch(step.value.map((one) => bound(binding, one)))
      step = migration.next(answers.at(-1)?.results ?? [])
    } catch (error) {
      step = migration.throw(error)
    }
  }
}
