/**
 * Schema stamps: each record has a stamp of the model shape that wrote it. The record's JSON can be sent as it is stored if that
 * model declares nothing that this one does not, and has every default that this one has.
 *
 * The database keeps the stamps true for every writer. A write of fieldgate changes the stamp (or its sign, if it stays
 * the same). A trigger removes the stamp when another writer changes the record: a version of the app without stamps, a
 * script, a shell. A record without a stamp, or with that of another model, is read through `onlyDeclared` and
 * `withDefaults`, which takes a list of 50 twice the time.
 */

import { digestOf } from '#hmac'
import { type Declared, declaredAt, isWhole } from '../../../../src/ports/store/declared.ts'
import { covers, declaredText } from '../../../../src/ports/store/declared-text.ts'
import type { Change, CollectionSchema } from '../../../../src/ports/store/store.ts'
import { identifier, type Statement, statement } from './sql.ts'

/** The column of the stamp. It comes before the record, which may be long. */
export const STAMP = 'shape'

/** The shapes that have written to a database: their stamps and their strings. */
export type Shapes = ReadonlyMap<number, string>

export interface KnownShapes {
  readonly all: Shapes
}

const SHAPES = identifier('fieldgate shapes')

export const CREATE_SHAPES: Statement = statement(
  `CREATE TABLE IF NOT EXISTS ${SHAPES} (mark INTEGER PRIMARY KEY, declared TEXT NOT NULL)`,
)

/** Selects the shapes: rows with `stamp` and `declared`. */
export const READ_SHAPES: Statement = statement(`SELECT mark, declared FROM ${SHAPES}`)

export function shapesIn(rows: readonly Readonly<Record<string, unknown>>[]): Shapes {
  return new Map(rows.map(({ mark, declared }) => [Number(mark), String(declared)]))
}

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
    return text === undefined ? [] : [[stampOf(text), text]]
  })
  return new Map(own.filter(([stamp]) => !known.has(stamp)))
}

/** No record's JSON begins with it. */
const UNTRUSTED = '!'

/** Whether a record's stamp says that everything in it is declared; `shown` is what `SchemaStamps.shown` selects. */
export function isStamped(shown: string): boolean {
  return !shown.startsWith(UNTRUSTED)
}

/** The JSON in `shown`, of a record that is not stamped. */
export function withoutSign(shown: string): string {
  return shown.slice(UNTRUSTED.length)
}

/** The stamps of one collection, from the view of a model's shape. */
export class SchemaStamps {
  readonly #declared: Declared
  readonly #shapes: KnownShapes
  #trust: Trust | undefined

  /** `shapes` are those of the database; without them only the model's own shape is known. */
  constructor(declared: Declared, shapes: KnownShapes = { all: new Map() }) {
    this.#declared = declared
    this.#shapes = shapes
  }

  /** The JSON of a record for `isStamped`, as SQL: `part` of a stamped one. A second column makes lists a tenth slower. */
  shown(part = 'doc'): string {
    return `iif(${STAMP} IN (${this.#trusts().stamps}), ${part}, '${UNTRUSTED}' || doc)`
  }

  /** Whether a record is not sent as it is stored, as SQL. */
  untrusted(): string {
    return `coalesce(${STAMP} NOT IN (${this.#trusts().stamps}), TRUE)`
  }

  /** The stamp of a record that is whole: everything in it is declared, and no default is missing. */
  ofWhole(record: unknown): number | undefined {
    const { own } = this.#trusts()
    return own !== undefined && isWhole(this.#declared, record) ? own : undefined
  }

  /** The stamp of a record that `change` changes, as SQL. */
  ofChanged(change: Change): string {
    const { own, stamps } = this.#trusts()
    if (own === undefined || !this.#declares(change)) return 'NULL'
    return `CASE WHEN ${STAMP} = ${own} THEN ${-own} WHEN ${STAMP} IN (${stamps}) THEN ${own} END`
  }

  #declares({ set = {}, unset = [], push = {}, increment = {} }: Change): boolean {
    const pushed = Object.entries(push).map(([path, { value }]) => [path, [value]] as const)
    const numbers = Object.entries(increment)
    const written = [...Object.entries(set), ...pushed, ...numbers]
    return (
      written.every(
        ([path, value]) => isWhole(this.#declared, value, path) && !this.#mayMakeParent(path),
      ) && unset.every((path) => !this.#isDefault(path))
    )
  }

  #isDefault(path: string): boolean {
    const [parent, name] = cut(path)
    const place = parent === '' ? this.#declared : declaredAt(this.#declared, parent)
    return place?.defaults?.has(name) === true
  }

  /** Whether a write to `path` may make an object around it which then lacks a default. */
  #mayMakeParent(path: string): boolean {
    if (!path.includes('.')) return false
    const [parent] = cut(path)
    const place = declaredAt(this.#declared, parent)
    return (place?.defaults?.size ?? 0) > 0 || this.#mayMakeParent(parent)
  }

  #trusts(): Trust {
    const shapes = this.#shapes.all
    if (this.#trust?.of === shapes) return this.#trust
    const text = declaredText(this.#declared)
    const own = text === undefined ? undefined : stampOf(text)
    const covered = [...shapes].filter(([, other]) => text !== undefined && covers(text, other))
    const trusted = new Set([own ?? [], covered.map(([stamp]) => stamp)].flat())
    const stamps = [...trusted].flatMap((stamp) => [stamp, -stamp]).join()
    this.#trust = { of: shapes, own, stamps }
    return this.#trust
  }
}

/** What is trusted as long as these shapes are known. */
interface Trust {
  readonly of: Shapes
  /** Undefined if the model's shape can't be written down. */
  readonly own: number | undefined
  /** The stamps, with both signs: those of shapes that declare nothing beyond the model's. */
  readonly stamps: string
}

/** A dotted path as the path of the object around it, which may be empty, and the last name. */
function cut(path: string): [parent: string, name: string] {
  const dot = path.lastIndexOf('.')
  return [path.slice(0, Math.max(dot, 0)), path.slice(dot + 1)]
}

/** 48 bits of a hash, so that a shape has the same stamp in every database. */
function stampOf(text: string): number {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = digestOf(text)
  return ((a << 8) | b) * 2 ** 32 + (((c << 24) | (d << 16) | (e << 8) | f) >>> 0) || 1
}
