/**
 * One collection, on top of anything that runs its statements.
 *
 * @module
 */

import { onlyDeclared, withDefaults } from '../../../../src/ports/declared.ts'
import { everything, type Filter } from '../../../../src/ports/filter.ts'
import { project } from '../../../../src/ports/projection.ts'
import type { Soon } from '../../../../src/ports/soon.ts'
import type {
  Collection,
  CollectionSchema,
  Fields,
  Read,
  ReadHints,
  WriteOptions,
} from '../../../../src/ports/store.ts'
import { mapInTurns } from '../../../../src/ports/turns.ts'
import { expecting } from '../../expecting.ts'
import { readerOf, textOf } from '../layout/rows.ts'
import { isMarked, MARK, Marks, type Shapes, withoutSign } from '../layout/schema-stamps.ts'
import { type Shadow, shadowsOf } from '../layout/shadows.ts'
import { type Filler, fillerOf } from '../search/filling.ts'
import { identifier, Parameters, type Row, type Statement, type Written } from '../sql.ts'
import { type Candidates, type Compilation, type Search, searchesIn } from './filter.ts'
import { columnReader, whereInTime } from './reads.ts'
import { type Held, type Writes, where, whereAll, writesTo } from './writes.ts'

/** Runs the statements of one collection; its errors are the port's. */
export interface Runner {
  /** The rows of a statement that finds a record by its id; at once, if nothing has to be waited for. */
  quick?(statement: Statement): Soon<readonly Row[]>
  /** The rows of a reading statement. */
  read(statement: Statement, hints?: ReadHints): Soon<readonly Row[]>
  /** The number that a statement returns as `count`: that of the records which match `filter`. */
  count(statement: Statement, filter: Filter, hints?: ReadHints): Promise<number>
  /** Runs a statement that changes records, atomically; resolves when the change is durable. */
  write(statement: Statement): Promise<Written>
  /** A condition that ends a read that must not go on. */
  readonly deadline?: string
  /** The most bytes that the SQL of a statement may have, if there is a limit. */
  readonly mostBytes?: number
  /** The shapes that have written to the database. */
  readonly shapes?: () => Shapes
  /** How to find the rows that contain a string, in a statement for all matches. */
  candidates?(): Candidates | undefined
  /** The same for a read of the first rows in order that searches for `searches`. */
  found?(searches: readonly Search[], hints?: ReadHints): Promise<Candidates | undefined>
}

/** The collection of `schema`. Its searchable paths may grow until the store is prepared for them. */
export function openCollection(schema: CollectionSchema, runner: Runner): Collection {
  const opened = openedFor(schema, runner)
  const { marks } = opened
  return {
    seeksRecords: true,
    ...readsOf(opened),
    ...writesOf(opened),
    ...(marks && { refresh: (ids: readonly string[]) => refresh(ids, marks, opened) }),
  }
}

function openedFor(schema: CollectionSchema, runner: Runner): Opened {
  return {
    schema,
    runner,
    table: identifier(schema.name),
    parse: readerOf(schema.shape),
    marks: schema.declared && new Marks(schema.declared, runner.shapes),
    compilation: compiler(schema, runner),
    filler: fillerOf(schema.name, runner),
  }
}

/** Longer records are left as they are: their JSON goes to the database and back. */
const MOST_REFRESHED = 16 * 1024

/** Marks those of the records which turn out to be whole. */
async function refresh(
  ids: readonly string[],
  marks: Marks,
  { runner, table }: Opened,
): Promise<void> {
  const rows = await runner.read({
    sql: `SELECT rowid AS row, doc FROM ${table} WHERE _id IN (SELECT value FROM json_each(?1)) AND ${marks.untrusted()} AND length(doc) <= ${MOST_REFRESHED}`,
    values: [JSON.stringify(ids)],
  })
  const marked = rows.flatMap(({ row, doc }) => {
    const mark = marks.ofWhole(JSON.parse(String(doc)))
    return mark === undefined ? [] : [[row, doc, mark]]
  })
  if (marked.length === 0) return
  // A record that was changed meanwhile has the mark of that change.
  await runner.write({
    sql: `UPDATE ${table} SET ${MARK} = value ->> 2 FROM json_each(?1) WHERE rowid = value ->> 0 AND doc = value ->> 1`,
    values: [JSON.stringify(marked)],
  })
}

/** What the reads and the writes of a collection share. */
interface Opened {
  readonly schema: CollectionSchema
  readonly runner: Runner
  readonly table: string
  readonly parse: ReturnType<typeof readerOf>
  readonly marks: Marks | undefined
  /** What one statement is compiled with. */
  compilation(): Compilation
  readonly filler: Filler
}

function readsOf({
  schema,
  runner,
  table,
  parse,
  marks,
  compilation,
  filler,
}: Opened): Pick<Collection, 'find' | 'findJson' | 'count' | 'estimate'> {
  const shown = textsShower(schema, marks)

  const column = columnReader({ runner, table, compilation, filler })

  return {
    async find(read) {
      const texts = await column(read, 'doc')
      return mapInTurns(texts, lengthOf, (text) => project(parse(text), read.select))
    },

    findJson(read) {
      try {
        const texts = column(read, marks?.shown() ?? 'doc')
        return texts instanceof Promise ? texts.then((all) => shown(all, read)) : shown(texts, read)
      } catch (error) {
        return Promise.reject(error)
      }
    },

    async count(filter, hints) {
      const countWith = (compiled: Compilation) => {
        // SQLite counts a whole table without reading each row.
        const conditions = filter === everything ? [] : whereInTime(filter, compiled, runner)
        const sql = `SELECT count(*) AS count FROM ${table}${whereAll(conditions)}`
        return runner.count(compiled.parameters.statement(sql), filter, hints)
      }
      const compiled = compilation()
      const searches = searchesIn(filter, compiled.shadows)
      if (searches.length === 0) return countWith(compiled)
      return filler.searched(searches, (lacking) => countWith({ ...compilation(), lacking }), hints)
    },

    async estimate() {
      const sql = `SELECT count(*) AS count FROM ${table}`
      return runner.count({ sql, values: [] }, everything)
    },
  }
}

/** The statements that write to the collection of `schema`, and the records that they return. */
export function openWrites(
  schema: CollectionSchema,
  runner: Runner,
): {
  readonly writes: Writes
  readonly parse: ReturnType<typeof readerOf>
  /** Resolves when the records have what the filter of a write searches. */
  readonly filledFor: (filter: Filter) => Promise<void> | undefined
} {
  const opened = openedFor(schema, runner)
  return {
    writes: writesTo(opened),
    parse: opened.parse,
    filledFor: (filter) => filledFor(filter, opened),
  }
}

function filledFor(
  filter: Filter,
  { schema, filler, compilation }: Opened,
): Promise<void> | undefined {
  // At once where nothing is searched, so that writes happen in the order of the calls.
  if (schema.searchable.length === 0) return undefined
  return filler.fill(searchesIn(filter, compilation().shadows))
}

function writesOf(opened: Opened): Pick<Collection, 'insert' | 'update' | 'updateMany' | 'delete'> {
  const { runner, parse, table, compilation } = opened
  const writes = writesTo(opened)

  const written = async (statement: Statement): Promise<Fields | null> => {
    const { rows } = await runner.write(statement)
    const [row] = rows
    return row ? parse(row.doc as string) : null
  }

  const whenFilled = async <T>(filter: Filter, write: () => Promise<T>): Promise<T> => {
    // Nothing is waited for without need, so that writes happen in the order of the calls.
    const filling = filledFor(filter, opened)
    if (filling) await filling
    return write()
  }

  /** Writes the record that matches, if it holds what is expected; see `expecting`. */
  const writeExpecting = (
    filter: Filter,
    { expect }: WriteOptions = {},
    write: (held: Held) => Statement,
  ): Promise<Fields | null> =>
    expecting<Held, Fields>(expect, {
      asWritten: () => ({ expect }),

      async find() {
        const compiled = compilation()
        const sql = `SELECT doc FROM ${table}${whereAll(where(filter, compiled))} LIMIT 1`
        const [row] = await runner.read(compiled.parameters.statement(sql))
        if (!row) return undefined
        const doc = String(row.doc)
        return { record: parse(doc), held: () => ({ doc }) }
      },

      write: (held) => written(write(held)),
    })

  return {
    async insert(record) {
      await runner.write(writes.insert(record))
    },
    update: (filter, change, options) =>
      whenFilled(filter, () =>
        writeExpecting(filter, options, (held) => writes.update(filter, change, held)),
      ),
    updateMany: (filter, change) =>
      whenFilled(
        filter,
        async () => (await runner.write(writes.updateMany(filter, change))).changes,
      ),
    delete: (filter, options) =>
      whenFilled(filter, () =>
        writeExpecting(filter, options, (held) => writes.delete(filter, held)),
      ),
  }
}

/** Returns what one statement is compiled with. */
function compiler(schema: CollectionSchema, runner: Pick<Runner, 'candidates'>): () => Compilation {
  let shadows = new Map<string, Shadow>()
  let searchable: readonly string[] = []
  return () => {
    if (schema.searchable.length !== searchable.length) {
      searchable = schema.searchable
      shadows = shadowsOf(schema)
    }
    const candidates = searchable.length > 0 ? runner.candidates?.() : undefined
    return { shape: schema.shape, shadows, parameters: new Parameters(), candidates }
  }
}

/** What a read shows of each record. */
type Shown = Pick<Read, 'select' | 'fillDefaults'>

/**
 * Returns the stored JSON of each record if everything in it is declared and selected and no default is missing, else
 * the JSON of the record as it is to be shown.
 */
function textsShower(
  { shape, declared }: CollectionSchema,
  marks: Marks | undefined,
): (given: string[], read: Shown) => Soon<string[]> {
  // In a JavaScript object such names come first, wherever they are in the JSON.
  const hasNumberedField = [...shape.fields.keys()].some((name) => /^\d+$/.test(name))
  const isDeclared = (given: string) => !marks || isMarked(given)
  const shown = (given: string, { select, fillDefaults }: Shown) => {
    const record: unknown = JSON.parse(isDeclared(given) ? given : withoutSign(given))
    const part = declared && !isDeclared(given) ? onlyDeclared(declared, record) : record
    const whole = declared && fillDefaults ? withDefaults(declared, part) : part
    return textOf(project(whole as Fields, select))
  }
  return (texts, read) => {
    const asStored = (text: string) => isDeclared(text) && !read.select && !hasNumberedField
    if (texts.every(asStored)) return texts
    return mapInTurns(texts, lengthOf, (text) => (asStored(text) ? text : shown(text, read)))
  }
}

function lengthOf(text: string): number {
  return text.length
}
