/** SQL, built safely: names and paths are quoted, values are bound, and the names of indexes say what they are. */

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

export type SqlValue = string | number
/** A row of a result. */
export type Row = Readonly<Record<string, unknown>>

/** A statement with what the store knows of it. */
export interface Statement extends SqliteStatement {
  readonly patterns?: readonly string[]
  /** Whether its rows may be lists of their values: where the driver can, that is faster than an object for each row. */
  readonly inLists?: boolean
  /** Of a write: whether it returns rows. One whose SQL ends with `RETURNING doc` does without this too. */
  readonly returns?: boolean
  /** The table that a write is to, if that matters. */
  readonly to?: string
  /** What a write does to which records match a filter. If undefined, nobody knows. */
  readonly effect?: Effect
}

/**
 * It stores the record whose JSON has this place among the statement's values, changes these fields of records, or
 * removes the records that it returns.
 */
export type Effect =
  | { readonly inserts: number }
  | { readonly changed: readonly string[] }
  | { readonly removes: true }

export function statement(sql: string): Statement {
  return { sql, values: [] }
}

/** D1 allows a hundred; values beyond this number are sent as JSON. */
const MAX_BOUND = 90

/** SQLite goes through a whole list for each value that it takes from it, so one that is longer, in characters, is not added to. */
export const MAX_LIST = 16_384

/** The values of a statement being built. A repeated value is bound once. */
export class Parameters {
  readonly #values: SqlValue[] = []
  readonly #patterns: string[] = []
  readonly #known = new Map<SqlValue, string>()
  readonly #lists: { readonly number: number; readonly json: string[]; length: number }[] = []

  statement(sql: string): Statement {
    for (const { number, json } of this.#lists) this.#values[number - 1] = `[${json.join()}]`
    const patterns = this.#patterns
    return { sql, values: this.#values, ...(patterns.length > 0 && { patterns }) }
  }

  bind(value: SqlValue): string {
    const known = this.#known.get(value)
    if (known !== undefined) return known
    const isFull = this.#values.length >= MAX_BOUND
    const bound = isFull ? this.#inJson(value, '->>') : `?${this.#values.push(value)}`
    this.#known.set(value, bound)
    return bound
  }

  pattern(pattern: string): string {
    this.#patterns.push(pattern)
    return this.bind(pattern.replaceAll('\0', '\\x00'))
  }

  /** Any value as JSON, sent in a list with others. */
  json(value: unknown): string {
    return this.#inJson(value, '->')
  }

  #inJson(value: unknown, operator: '->' | '->>'): string {
    let list = this.#lists.at(-1)
    if (!list || (list.length > MAX_LIST && this.#values.length < MAX_BOUND)) {
      list = { number: this.#values.push(''), json: [], length: 0 }
      this.#lists.push(list)
    }
    const json = JSON.stringify(value) ?? 'null'
    list.length += json.length
    return `(?${list.number} ${operator} ${list.json.push(json) - 1})`
  }
}

export function identifier(name: string): string {
  if (name === '' || name.includes('\0')) {
    throw new TypeError(`${JSON.stringify(name)} cannot be the name of a table or column`)
  }
  return `"${name.replaceAll('"', '""')}"`
}

/** SQLite ignores the case of ASCII letters in names; JSON does not. This keeps `userId` and `userID` apart. */
export function caseKept(name: string): string {
  return name.replace(/[A-Z^]/g, (char) => `^${char.toLowerCase()}`)
}

/** `text` as a string literal; only for names that the model declares. */
export function literal(text: string): string {
  if (text.includes('\0')) throw new TypeError('a name cannot hold NUL')
  return `'${text.replaceAll("'", "''")}'`
}

/** A dotted path as the literal of a JSON path, each key quoted as in JSON. */
export function jsonPath(path: string): string {
  const known = jsonPaths.get(path)
  if (known !== undefined) return known
  const keys = path.split('.').map((key) => `.${JSON.stringify(key)}`)
  const made = literal(`$${keys.join('')}`)
  // Maps have keys of any name.
  if (jsonPaths.size < MAX_PATHS) jsonPaths.set(path, made)
  return made
}

const jsonPaths = new Map<string, string>()
const MAX_PATHS = 10_000

/** The SQL function that matches a pattern; only if the store has one. */
export const MATCHES = 'fieldgate_matches'

export function isLonger(sql: string, most: number = Number.POSITIVE_INFINITY): boolean {
  // A UTF-16 unit is three bytes at most.
  return 3 * sql.length > most && new TextEncoder().encode(sql).length > most
}

/**
 * Whether `from` has a row for which `condition` holds. Without the LIMIT, SQLite 3.51 turns it into a join, and an
 * OFFSET then counts the rows of the join instead of the records.
 */
export function exists(from: string, condition: string): string {
  return `EXISTS (SELECT 1 FROM ${from} WHERE ${condition} LIMIT 1)`
}

/** An index, a trigger or a table, by the statement that creates it. */
export interface Creation {
  readonly name: string
  /** Spelled as the database keeps it, so that it can be compared with what exists. */
  readonly sql: string
}

/** The trigger of `table` that does something after `event`: an `INSERT`, say, with a `WHEN` or always. */
export function trigger(
  name: string,
  table: string,
  event: string,
  when: string,
  does: string,
): Creation {
  const condition = when && ` WHEN ${when}`
  return {
    name,
    sql: `CREATE TRIGGER ${identifier(name)} AFTER ${event} ON ${identifier(table)}${condition} BEGIN ${does}; END`,
  }
}

/** The trigger that empties a column if a record is changed without it, and `when` holds: whoever keeps it never leaves it the same. */
export function emptyingTrigger(name: string, table: string, column: string, when = ''): Creation {
  const isForeign = `new.${column} IS old.${column} AND new.${column} IS NOT NULL${when}`
  const empties = `UPDATE ${identifier(table)} SET ${column} = NULL WHERE rowid = new.rowid`
  return trigger(name, table, 'UPDATE OF doc', isForeign, empties)
}

/** Runs statements in one transaction: either all take effect or none. Settles after the commit. */
export type RunAll = (statements: readonly Statement[]) => Promise<readonly SqliteResult[]>

export const CLOUDFLARE_LIMITS = {
  maxBytes: 100_000,
  /** A table has 100 columns, four of which are taken. */
  maxSearched: 96,
} as const

type Answers = readonly (readonly Row[])[]

/** Yields statements that take effect together, and gets the rows of each, or the error. */
export type Migration<Result> = Generator<readonly Statement[], Result, Answers>

export async function migrate<Result>(
  migration: Migration<Result>,
  run: (statements: readonly Statement[]) => Promise<Answers>,
): Promise<Result> {
  for (let step = migration.next(); ; ) {
    if (step.done) return step.value
    const answers = await run(step.value).catch((error: unknown) => ({ error }))
    step = 'error' in answers ? migration.throw(answers.error) : migration.next(answers)
  }
}

/** The name of a unique index. Errors contain it, so it tells which fields clash. */
export function uniqueIndexName(table: string, fields: readonly string[]): string {
  return `${table}${UNIQUE}${caseKept(JSON.stringify(fields))}`
}

const UNIQUE = ' unique '
const ORDER = ' index '

export function orderIndexName(table: string, keys: readonly string[]): string {
  return `${table}${ORDER}${caseKept(JSON.stringify(keys))}`
}

/** The fields of the unique index of a table that `name` is the name of; undefined if it is none. */
export function uniqueFieldsIn(table: string, name: string): readonly string[] | undefined {
  return listIn(name, `${table}${UNIQUE}`)
}

/** The strings in the list that follows `start`; undefined in any other name. */
export function listIn(name: string, start: string): readonly string[] | undefined {
  if (!name.startsWith(`${start}["`) || !name.endsWith('"]')) return undefined
  const list = name.slice(start.length).replace(/\^(.)/g, (_, kept: string) => kept.toUpperCase())
  try {
    return JSON.parse(list)
  } catch {
    // Somebody else's.
    return undefined
  }
}

/** Whether it is an index that a model has declared: one that you created by hand stays. */
export function isDeclaredIndex({ table, name }: Record<'table' | 'name', string>): boolean {
  return (uniqueFieldsIn(table, name) ?? listIn(name, `${table}${ORDER}`)) !== undefined
}
