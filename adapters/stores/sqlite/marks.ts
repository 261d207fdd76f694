/**
 * Marks: beside each record, the shape of the model that wrote it, so that the record's text can be sent as it is
 * stored when that model declares nothing that this one does not.
 *
 * The database keeps them true, whoever writes. A write of ours changes the mark (its sign, where it stays the same);
 * a trigger removes the mark of a record that another writer has changed: another version of the app that knows of no
 * marks, a script, a shell. What has no mark, or that of a model which declares more, is read through `onlyDeclared`.
 *
 * @module
 */

import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { type Declared, declaredAt, onlyDeclared } from '../../../src/ports/declared.ts'
import { covers, declaredText } from '../../../src/ports/declared-text.ts'
import type { Change, CollectionSchema, Fields } from '../../../src/ports/store.ts'
import { identifier, type Statement } from './sql.ts'

/** The column of the mark. It stands before the record, which may be long. */
export const MARK = 'shape'

/** The shapes that have written to a database: their marks and their texts. */
export type Shapes = ReadonlyMap<number, string>

const SHAPES = identifier('fieldgate shapes')

/** Makes the table of the shapes. */
export const CREATE_SHAPES: string = `CREATE TABLE IF NOT EXISTS ${SHAPES} (mark INTEGER PRIMARY KEY, declared TEXT NOT NULL)`

/** Asks for the shapes: rows with `mark` and `declared`. */
export const READ_SHAPES: string = `SELECT mark, declared FROM ${SHAPES}`

/** The shapes in such rows. */
export function shapesIn(rows: readonly Readonly<Record<string, unknown>>[]): Shapes {
  return new Map(rows.map(({ mark, declared }) => [Number(mark), String(declared)]))
}

/** Notes shapes. */
export function noteShapes(shapes: Shapes): Statement {
  return {
    sql: `INSERT OR IGNORE INTO ${SHAPES} SELECT value ->> 0, value ->> 1 FROM json_each(?1)`,
    values: [JSON.stringify([...shapes])],
  }
}

/** The shapes of `schemas` that are not among `known` yet. */
export function newShapes(schemas: readonly CollectionSchema[], known: Shapes): Shapes {
  const own = schemas.flatMap(({ declared }): [number, string][] => {
    const text = declared && declaredText(declared)
    return text === undefined ? [] : [[markOf(text), text]]
  })
  return new Map(own.filter(([mark]) => !known.has(mark)))
}

/** The trigger of a table by its name: it removes the marks of records that a writer changes without a mark. */
export function markTrigger(table: string): readonly [name: string, sql: string] {
  const [name, on] = [`${table} ${MARK}`, identifier(table)]
  const isForeign = `new.${MARK} IS old.${MARK} AND new.${MARK} IS NOT NULL`
  return [
    name,
    `CREATE TRIGGER ${identifier(name)} AFTER UPDATE OF doc ON ${on} WHEN ${isForeign} BEGIN UPDATE ${on} SET ${MARK} = NULL WHERE rowid = new.rowid; END`,
  ]
}

const none: Shapes = new Map()

/** No record's text begins with it. */
const UNTRUSTED = '!'

/** A record's text, and whether its mark says that all in it is declared. */
export function unmarked(shown: string): [text: string, isDeclared: boolean] {
  return shown.startsWith(UNTRUSTED) ? [shown.slice(UNTRUSTED.length), false] : [shown, true]
}

/** The marks of one collection, as a model's shape sees them. */
export class Marks {
  readonly #declared: Declared
  readonly #shapes: () => Shapes
  #own: { readonly text: string; readonly mark: number } | undefined
  #isKnown = false
  #seen: Shapes | undefined
  #trusted: ReadonlySet<number> = new Set()

  /** `shapes` gives those of the database; without it only the own one is known. */
  constructor(declared: Declared, shapes: () => Shapes = () => none) {
    this.#declared = declared
    this.#shapes = shapes
  }

  /** The text of a record for `unmarked`, as SQL. One column: a second one costs lists a tenth. */
  shown(): string {
    return `iif(${MARK} IN (${[...this.#marks()]}), doc, '${UNTRUSTED}' || doc)`
  }

  /** The mark of a new record, as SQL. */
  ofNew(record: Fields): string {
    const own = this.#ownShape()
    return own && onlyDeclared(this.#declared, record) === record ? String(own.mark) : 'NULL'
  }

  /** The mark of a record that `change` changes, as SQL. */
  ofChanged(change: Change): string {
    const own = this.#ownShape()
    if (!own || !this.#declares(change)) return 'NULL'
    const others = [...this.#marks()].filter((mark) => Math.abs(mark) !== own.mark)
    const kept = others.map((mark) => ` WHEN ${mark} THEN ${own.mark}`).join('')
    return `CASE ${MARK} WHEN ${own.mark} THEN ${-own.mark} WHEN ${-own.mark} THEN ${own.mark}${kept} END`
  }

  #declares({ set = {}, push = {}, increment = {} }: Change): boolean {
    const pushed = Object.entries(push).map(([path, { value }]) => [path, [value]] as const)
    const numbers = Object.entries(increment)
    return [...Object.entries(set), ...pushed, ...numbers].every(([path, value]) => {
      const declared = declaredAt(this.#declared, path)
      return declared !== undefined && onlyDeclared(declared, value) === value
    })
  }

  #ownShape(): { readonly text: string; readonly mark: number } | undefined {
    if (this.#isKnown) return this.#own
    this.#isKnown = true
    const text = declaredText(this.#declared)
    this.#own = text === undefined ? undefined : { text, mark: markOf(text) }
    return this.#own
  }

  /** The marks that are trusted, with both signs: of shapes that declare nothing which this one does not. */
  #marks(): ReadonlySet<number> {
    const shapes = this.#shapes()
    if (shapes === this.#seen) return this.#trusted
    this.#seen = shapes
    const own = this.#ownShape()
    const covered = own ? [...shapes].filter(([, text]) => covers(own.text, text)) : []
    const marks = [...(own ? [own.mark] : []), ...covered.map(([mark]) => mark)]
    this.#trusted = new Set(marks.flatMap((mark) => [mark, -mark]))
    return this.#trusted
  }
}

/** 48 bits of a hash, so that the mark of a shape is the same in every database. */
function markOf(text: string): number {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = sha256(utf8ToBytes(text))
  return ((a << 8) | b) * 2 ** 32 + (((c << 24) | (d << 16) | (e << 8) | f) >>> 0) || 1
}
