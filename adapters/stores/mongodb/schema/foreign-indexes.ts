/** Indexes that this store did not create: what each means for a collection's schema. None is ever dropped. */

import type { Document } from 'mongodb'
import type { ForeignIndex } from '../../../../src/ports/services/surroundings.ts'
import type { Shape } from '../../../../src/ports/store/shape.ts'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import { topOf } from '../../../../src/ports/values/paths.ts'
import { haveSameFields } from '../../left-over.ts'
import { totalOrder } from '../../planner/seek.ts'
import {
  begins,
  collationFor,
  holds,
  isCollation,
  sameConditions,
  valueCondition,
} from './desired-indexes.ts'
import { collationText, type ExistingIndex } from './existing-indexes.ts'

/** The names of the indexes that this store creates. Another app may rely on every other one. */
const OWN = /^(?:_id_|(?:unique|order|search)\(.*\))$/s

/** What an operator should know of the other indexes on fields of `schema`, unless the model has a use for them. */
export function foreignIndexes(
  indexes: readonly ExistingIndex[],
  schema: CollectionSchema,
): readonly ForeignIndex[] {
  return indexes.flatMap((index) => {
    const { name = '' } = index
    const fields = fieldsOf(index)
    const isDeclared = fields.some((path) => schema.shape.fields.has(topOf(path)))
    if (OWN.test(name) || !isDeclared) return []
    const found = unlikeOurs(index, schema) ?? harmless(index, schema, indexes)
    if (!found) return []
    const { when = 'If nothing else needs it', ...rest } = found
    return [{ name, fields, ...rest, advice: `${when}: ${dropCommand(schema, name)}` }]
  })
}

/** The line for MongoDB's shell that drops an index. */
export function dropCommand({ name }: CollectionSchema, index: string): string {
  return `${inShell(name)}.dropIndex(${quoted(index)})`
}

export function inShell(collection: string): string {
  return /^[A-Za-z]\w*$/.test(collection)
    ? `db.${collection}`
    : `db.getCollection(${quoted(collection)})`
}

function quoted(text: string): string {
  return /^[^'\\\p{Cc}]*$/u.test(text) ? `'${text}'` : JSON.stringify(text)
}

/** Those of a text index are not in its key. */
function fieldsOf({ key, weights = {} }: ExistingIndex): readonly string[] {
  const named = [...key.keys()].filter((path) => path !== '_fts' && path !== '_ftsx')
  return [...named, ...Object.keys(weights)]
}

/**
 * Whether an index refuses every record that our own unique index over `fields` would refuse. A collation, another order
 * of the keys and more records in it make it stricter.
 */
export function isAsStrict(
  index: ExistingIndex,
  fields: readonly string[],
  schema: CollectionSchema,
): boolean {
  if (index.unique !== true || !haveSameFields([...index.key.keys()], fields)) return false
  const collation = collationFor(fields, schema)
  if (collation && !isCollation(index.collation, collation)) return false
  const condition: Document = index.partialFilterExpression ?? {}
  return Object.entries(condition).every(([path, given]) => {
    if (!fields.includes(path)) return false
    const enough = [valueCondition(path, schema), ...sameConditions(path, schema)]
    return enough.some((one) => JSON.stringify(one) === JSON.stringify(given))
  })
}

/** `when` an index may be dropped, if that is more than nobody's need of it. */
type Found = Pick<ForeignIndex, 'harm' | 'note'> & { readonly when?: string }

/** What an index does to writes that the model doesn't say. */
function unlikeOurs(index: ExistingIndex, schema: CollectionSchema): Found | undefined {
  const { expireAfterSeconds: after, unique, collation } = index
  const list = fieldsOf(index).join(', ')
  if (typeof after === 'number') {
    return {
      harm: 'deletes',
      note: `deletes records ${after.toLocaleString('en')} seconds after ${list}, past every guard, hook and reference.`,
    }
  }
  if (!unique) return undefined
  const refuses = (note: string): Found => ({ harm: 'refuses', note: `refuses ${note}` })
  if (!schema.unique.some((set) => haveSameFields(set, fieldsOf(index)))) {
    return refuses(`a second record with the same ${list}, which the model does not say is unique.`)
  }
  const own = collationFor(fieldsOf(index), schema)
  const isOwnCollation = own !== undefined && isCollation(collation, own)
  if (collation && collation.locale !== 'simple' && !isOwnCollation) {
    return refuses(
      `a ${list} that its collation (${collationText(collation)}) takes for another's. Without it, only equal values clash.`,
    )
  }
  const lack = clashingLack(index, schema)
  return lack === undefined ? undefined : refuses(`a second record ${lack} as a value.`)
}

/** Which records without a value a unique index refuses though the model takes them, and what it counts as a value. */
function clashingLack(index: ExistingIndex, schema: CollectionSchema): string | undefined {
  if (index.partialFilterExpression) return undefined
  const fields = fieldsOf(index)
  const mayLack = fields.filter((field) => schema.absence?.get(field) !== 'never')
  if (mayLack.length === 0) return undefined
  const list = mayLack.join(', ')
  // A sparse index leaves out the records that have none of its fields, but not those in which one is null.
  if (!index.sparse || fields.length > 1)
    return `without ${list}, because it counts a missing value`
  return schema.absence?.get(list) === 'missing'
    ? undefined
    : `in which ${list} is null, because it counts null`
}

/** What is worth knowing of an index that neither deletes nor refuses anything. */
function harmless(
  index: ExistingIndex,
  schema: CollectionSchema,
  indexes: readonly ExistingIndex[],
): Found | undefined {
  const note = (text: string): Found => ({ harm: 'none', note: text })
  if (servesOtherwise(index, schema)) return undefined
  if (schema.unique.some((set) => isAsStrict(index, set, schema))) return undefined
  const orders = schema.indexes.map(totalOrder)
  if (orders.some((keys) => holds(index, keys))) {
    return index.hidden
      ? note(
          `is the one that the model declares, but it is hidden, so no read uses it. To use it: ${inShell(schema.name)}.unhideIndex(${quoted(index.name ?? '')}).`,
        )
      : undefined
  }
  const wider = orders.filter((keys) => begins(index, keys))
  if (wider.length === 0) {
    return note(
      'is not one that the model declares. It slows down every write, and filters and sorts may still use it.',
    )
  }
  // Until the wider one is there, this one serves its reads.
  const there = indexes.find((one) => !one.hidden && wider.some((keys) => holds(one, keys)))
  return (
    there && {
      ...note(`begins as '${there.name ?? ''}' does, which serves the same reads.`),
      when: 'Once no other program declares it',
    }
  )
}

/** Whether an index is of a kind that no model declares, though reads may need it: of elements of lists, texts, places. */
function servesOtherwise({ key }: ExistingIndex, { shape }: CollectionSchema): boolean {
  return [...key].some(
    ([path, kind]) =>
      typeof kind !== 'number' || path.endsWith('$**') || mayHoldLists(shape, path.split('.')),
  )
}

/** Whether values at a path, or around it, are lists or may be. */
function mayHoldLists(shape: Shape | undefined, [key, ...rest]: readonly string[]): boolean {
  if (shape?.kind === 'list' || shape?.kind === 'mixed') return true
  if (key === undefined) return false
  if (shape?.kind === 'map') return mayHoldLists(shape.value, rest)
  return shape?.kind === 'object' && mayHoldLists(shape.fields.get(key), rest)
}
