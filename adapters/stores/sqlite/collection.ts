/**
 * One collection, on top of anything that runs its statements.
 *
 * @module
 */

import { onlyDeclared, withDefaults } from '../../../src/ports/declared.ts'
import { everything, type Filter, type SortKey } from '../../../src/ports/filter.ts'
import { project } from '../../../src/ports/projection.ts'
import {
  AnchorGone,
  type Collection,
  type CollectionSchema,
  type Fields,
  type Read,
  type ReadHints,
} from '../../../src/ports/store.ts'
import type { Candidates } from './compile.ts'
import { type Compilation, type Search, searchesIn } from './compile.ts'
import { MARK, Marks, type Shapes, unmarked } from './marks.ts'
import { orderBy, type Stretch, stretchesAfter, stretchesAfterRow } from './order.ts'
import { parsed, readerOf, textOf } from './rows.ts'
import { type Shadow, shadowsOf } from './shadow.ts'
import { identifier, Parameters, type Row, type Statement, type Written } from './sql.ts'
import { type Writes, where, whereAll, writesTo } from './writes.ts'

/** Runs the statements of one collection; its errors are the port's. */
export interface Runner {
  /** The rows of a reading statement. */
  read(statement: Statement, hints?: ReadHints): Promise<readonly Row[]>
  /** The number that a statement returns as `count`. */
  count(statement: Statement, hints?: ReadHints): Promise<number>
  /** Runs a statement that changes records, atomically; resolves when the change is durable. */
  write(statement: Statement): Promise<Written>
  /** A condition that ends a read that must not go on. */
  readonly deadline?: string
  /** The shapes that have written to the database. */
  readonly shapes?: () => Shapes
  /** How to find the rows that contain a string, in a statement for all matches. */
  candidates?(): Candidates | undefined
  /** The same for a read of the first rows in order that searches for `searches`. */
  found?(searches: readonly Search[], hints?: ReadHints): Promise<Candidates | undefined>
}

/** The collection of `schema`. Its searchable paths may grow until the store is prepared for them. */
export function openCollection(schema: CollectionSchema, runner: Runner): Collection {
  const opened: Opened = {
    schema,
    runner,
    table: identifier(schema.name),
    parse: readerOf(schema.shape),
    marks: schema.declared && new Marks(schema.declared, runner.shapes),
    compilation: compiler(schema, runner),
  }
  const { marks } = opened
  return {
    seeksRecords: true,
    ...readsOf(opened),
    ...writesOf(opened),
    ...(marks && { refresh: (ids: readonly string[]) => refresh(ids, marks, opened) }),
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
    const mark = marks.ofWhole(parsed(String(doc)))
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
}

function readsOf({
  schema,
  runner,
  table,
  parse,
  marks,
  compilation,
}: Opened): Pick<Collection, 'find' | 'findJson' | 'count' | 'estimate'> {
  const shownJson = textShower(schema, marks)

  /** Like `where`, for a read that may take long. */
  const whereInTime = (filter: Filter, compiled: Compilation): string[] => {
    const conditions = where(filter, compiled)
    return runner.deadline && !namesOne(filter) ? [runner.deadline, ...conditions] : conditions
  }

  const rows = async (read: Read, columns: string): Promise<readonly Row[]> => {
    const found = read.limit === 0 ? [] : await page(read, columns)
    if (found.length === 0 && read.afterRecord) await requireRecord(read.afterRecord, read.hints)
    return found
  }

  /** Nothing comes after a record that is not there. */
  const requireRecord = async (anchor: Filter, hints?: ReadHints): Promise<void> => {
    const compiled = compilation()
    const sql = `SELECT 1 FROM ${table}${whereAll(where(anchor, compiled))} LIMIT 1`
    const found = await runner.read(compiled.parameters.statement(sql), hints)
    if (found.length === 0) throw new AnchorGone()
  }

  const page = async (read: Read, columns: string): Promise<readonly Row[]> => {
    const plain = compilation()
    const searches = searchesIn(read.filter, plain.shadows)
    // Only a search waits for its result.
    const compiled =
      searches.length === 0
        ? plain
        : { ...plain, candidates: await runner.found?.(searches, read.hints) }
    const from = { columns, table }
    const sql = compileRead(from, read, whereInTime(read.filter, compiled), compiled)
    return runner.read(compiled.parameters.statement(sql), read.hints)
  }

  return {
    async find(read) {
      const found = await rows(read, 'doc')
      const texts = found.map(({ doc }) => doc as string)
      return eachOf(texts, parse, (record) => project(record, read.select))
    },

    async findJson(read) {
      const found = await rows(read, `${marks?.shown() ?? 'doc'} AS shown`)
      return eachOf(
        found,
        ({ shown }) => shownJson(shown as string, read),
        (text) => text,
      )
    },

    async count(filter, hints) {
      const compiled = compilation()
      // SQLite counts a whole table without reading each row.
      const conditions = filter === everything ? [] : whereInTime(filter, compiled)
      const sql = `SELECT count(*) AS count FROM ${table}${whereAll(conditions)}`
      return runner.count(compiled.parameters.statement(sql), hints)
    },

    async estimate() {
      return runner.count({ sql: `SELECT count(*) AS count FROM ${table}`, values: [] })
    },
  }
}

/** The statements that write to the collection of `schema`, and the records that they return. */
export function openWrites(
  schema: CollectionSchema,
  runner: Pick<Runner, 'shapes' | 'candidates'>,
): { readonly writes: Writes; readonly parse: ReturnType<typeof readerOf> } {
  const { shape, declared, name } = schema
  const marks = declared && new Marks(declared, runner.shapes)
  const target = { table: identifier(name), marks, compilation: compiler(schema, runner) }
  return { writes: writesTo(target), parse: readerOf(shape) }
}

function writesOf(opened: Opened): Pick<Collection, 'insert' | 'update' | 'updateMany' | 'delete'> {
  const { runner, parse } = opened
  const writes = writesTo(opened)

  const written = async (statement: Statement): Promise<Fields | null> => {
    const { rows } = await runner.write(statement)
    const [row] = rows
    return row ? parse(row.doc as string) : null
  }

  return {
    async insert(record) {
      await runner.write(await writes.insert(record))
    },
    update: async (filter, change, options) => written(writes.update(filter, change, options)),
    updateMany: async (filter, change) =>
      (await runner.write(writes.updateMany(filter, change))).changes,
    delete: async (filter, options) => written(writes.delete(filter, options)),
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

/**
 * Returns the stored JSON if everything in it is declared and selected and no default is missing, else the JSON of the
 * record as it is to be shown.
 */
function textShower(
  { shape, declared }: CollectionSchema,
  marks: Marks | undefined,
): (given: string, read: Pick<Read, 'select' | 'fillDefaults'>) => string | Promise<string> {
  // In a JavaScript object such names come first, wherever they are in the JSON.
  const hasNumberedField = [...shape.fields.keys()].some((name) => /^\d+$/.test(name))
  return (given, { select, fillDefaults }) => {
    const [text, isDeclared] = marks ? unmarked(given) : [given, true]
    if (isDeclared && !select && !hasNumberedField) return text
    const chosen = (record: unknown): string => {
      const shown = declared && !isDeclared ? onlyDeclared(declared, record) : record
      const whole = declared && fillDefaults ? withDefaults(declared, shown) : shown
      return textOf(project(whole as Fields, select))
    }
    const record = parsed(text)
    return record instanceof Promise ? record.then(chosen) : chosen(record)
  }
}

/** Applies `make`, then `then`, to each; awaits only what is asynchronous. */
async function eachOf<Item, Made, T>(
  items: readonly Item[],
  make: (item: Item) => Made | Promise<Made>,
  then: (made: Made) => T,
): Promise<T[]> {
  const results: T[] = []
  for (const item of items) {
    const made = make(item)
    results.push(then(made instanceof Promise ? await made : made))
  }
  return results
}

/** The statement that returns a read's records in order. */
function compileRead(
  { columns, table }: { readonly columns: string; readonly table: string },
  read: Read,
  conditions: readonly string[],
  compiled: Compilation,
): string {
  const { parameters } = compiled
  const { filter, sort, skip = 0, limit } = read
  const from = `${columns} FROM ${table}`
  const cut = stretchesOf(read, table, compiled)
  if (namesOne(filter) && !cut && skip === 0) return `SELECT ${from}${whereAll(conditions)}`
  const select = (all: readonly string[], keys: readonly SortKey[], count: number): string =>
    `SELECT ${from}${whereAll(all)}${orderBy(keys, compiled)} LIMIT ${parameters.bind(count)}`
  const offset = skip > 0 ? offsetOf(skip, parameters) : ''
  if (!cut) return select(conditions, sort, limit) + offset
  const stretches = cut.map(
    (stretch) =>
      `SELECT * FROM (${select([...conditions, ...stretch.conditions], stretch.sort, limit + skip)})`,
  )
  return `${oneAfterAnother(stretches)} LIMIT ${parameters.bind(limit)}${offset}`
}

/** The stretches that a read returns records of; undefined if it starts at the beginning. */
function stretchesOf(
  { sort, after, afterRecord }: Read,
  table: string,
  compiled: Compilation,
): Stretch[] | undefined {
  if (!afterRecord) return after && stretchesAfter(sort, after, compiled)
  return stretchesAfterRow(sort, `${table}${whereAll(where(afterRecord, compiled))}`, compiled)
}

/** A deep offset has an SQL string of its own, so that near pages are not treated as slow because a deep one was. */
function offsetOf(skip: number, parameters: Parameters): string {
  const bound = parameters.bind(skip)
  return ` OFFSET ${skip < DEEP ? bound : `(${bound})`}`
}

const DEEP = 10_000

/** Whether only the record with a certain id can match: then there is nothing to sort, to cut or to interrupt. */
function namesOne(filter: Filter): boolean {
  if (filter.op === 'and') return filter.filters.some(namesOne)
  return filter.op === 'eq' && filter.field === '_id'
}

/** SQLite runs the parts of a `UNION ALL` in turn and stops at the limit; D1 takes five at once. */
function oneAfterAnother(selects: readonly string[]): string {
  if (selects.length <= MAX_TERMS) return selects.join(' UNION ALL ')
  const first = selects.slice(0, MAX_TERMS - 1).join(' UNION ALL ')
  return `${first} UNION ALL SELECT * FROM (${oneAfterAnother(selects.slice(MAX_TERMS - 1))})`
}

const MAX_TERMS = 5
