/**
 * SQL, built safely: names and paths are quoted, values are bound.
 *
 * @module
 */

/** A value that is bound to a statement. */
export type SqlValue = string | number

/** A statement with the values of its numbered parameters. */
export interface Statement {
  readonly sql: string
  readonly values: readonly SqlValue[]
  /** The regular expressions among the values. */
  readonly patterns?: readonly string[]
  /** Whether its rows may be lists of their values: where the driver can, that is faster than an object for each row. */
  readonly inLists?: boolean
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

/** D1 allows a hundred; values beyond this number are sent as JSON. */
const MOST_BOUND = 90

/** The values of a statement being built. A repeated value is bound once. */
export class Parameters {
  readonly #values: SqlValue[] = []
  readonly #patterns: string[] = []
  readonly #known = new Map<SqlValue, string>()
  readonly #json: string[] = []
  #jsonNumber = 0

  /** The statement with this SQL and these parameters. */
  statement(sql: string): Statement {
    if (this.#jsonNumber > 0) this.#values[this.#jsonNumber - 1] = `[${this.#json.join()}]`
    const patterns = this.#patterns
    return { sql, values: this.#values, ...(patterns.length > 0 && { patterns }) }
  }

  /** `value` as a parameter: `?1`. */
  bind(value: SqlValue): string {
    const known = this.#known.get(value)
    if (known !== undefined) return known
    const isMost = this.#values.length >= MOST_BOUND
    const bound = isMost ? this.#inJson(value, '->>') : `?${this.#values.push(value)}`
    this.#known.set(value, bound)
    return bound
  }

  /** A regular expression as a parameter. */
  pattern(pattern: string): string {
    this.#patterns.push(pattern)
    return this.bind(pattern)
  }

  /** Any value as JSON. All of them are sent in one parameter. */
  json(value: unknown): string {
    return this.#inJson(value, '->')
  }

  #inJson(value: unknown, operator: '->' | '->>'): string {
    if (this.#jsonNumber === 0) this.#jsonNumber = this.#values.push('')
    const at = this.#json.push(JSON.stringify(value) ?? 'null') - 1
    return `(?${this.#jsonNumber} ${operator} ${at})`
  }
}

/** `name` as an identifier. */
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

/** The name that `caseKept` made `kept` of. */
export function caseRestored(kept: string): string {
  return kept.replace(/\^(.)/g, (_, char: string) => char.toUpperCase())
}

/** `text` as a string literal; only for names that the model declares. */
export function literal(text: string): string {
  if (text.includes('\0')) throw new TypeError('a name cannot hold NUL')
  return `'${text.replaceAll("'", "''")}'`
}

/** A dotted path as the literal of a JSON path, each key quoted as in JSON. */
export function jsonPath(path: string): string {
  const keys = path.split('.').map((key) => `.${JSON.stringify(key)}`)
  return literal(`$${keys.join('')}`)
}

/** Whether `sql` has more than `most` bytes. */
export function isLonger(sql: string, most: number = Number.POSITIVE_INFINITY): boolean {
  // A UTF-16 unit is three bytes at most.
  return 3 * sql.length > most && new TextEncoder().encode(sql).length > most
}

/** The conjunction of the conditions. */
export function every(conditions: readonly string[]): string {
  return joined(conditions, 'AND', 'TRUE')
}

/** The disjunction of the conditions. */
export function some(conditions: readonly string[]): string {
  return joined(conditions, 'OR', 'FALSE')
}

/**
 * Whether `from` has a row for which `condition` holds. Without the LIMIT, SQLite 3.51 turns it into a join, and an
 * OFFSET then counts the rows of the join instead of the records.
 */
export function exists(from: string, condition: string): string {
  return `EXISTS (SELECT 1 FROM ${from} WHERE ${condition} LIMIT 1)`
}

/**
 * Joined as a balanced tree: D1 refuses expressions deeper than 100. Conditions without effect are left out, because
 * SQLite uses no index beside them.
 */
function joined(conditions: readonly string[], operator: string, none: string): string {
  return balanced(
    conditions.filter((condition) => condition !== none),
    operator,
    none,
  )
}

function balanced(conditions: readonly string[], operator: string, none: string): string {
  const [only = none] = conditions
  if (conditions.length <= 1) return only
  const middle = conditions.length >> 1
  const left = balanced(conditions.slice(0, middle), operator, none)
  return `(${left} ${operator} ${balanced(conditions.slice(middle), operator, none)})`
}

/** A row of a result. */
export type Row = Readonly<Record<string, unknown>>

/** The result of a write. */
export interface Written {
  /** The rows of its `RETURNING` clause. */
  readonly rows: readonly Row[]
  readonly changes: number
}
