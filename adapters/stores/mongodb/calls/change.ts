/**
 * A change of one record as an aggregation pipeline, which MongoDB applies as one atomic step. The plain update
 * operators don't fit: `$inc` and `$push` refuse null, which fieldgate counts as 0 and as an empty list.
 */

import { BSON, type Document } from 'mongodb'
import type { Fields } from '../../../../src/ports/store/records.ts'
import type { ObjectShape, Shape } from '../../../../src/ports/store/shape.ts'
import type { Change, CollectionSchema } from '../../../../src/ports/store/store.ts'
import { type Operation, operationsOf } from '../../planner/change.ts'
import { encode, fromDocument, partsOf } from '../documents/documents.ts'
import { gramStages, type Indexed } from '../search/grams.ts'

/**
 * `change` as an update pipeline, with a stage for each of its members; `indexed` are the paths with a search index. A value
 * of `expect` that moves to another name keeps its types, of which JavaScript may have none.
 */
export function compileChange(
  change: Change,
  { shape, version }: Pick<CollectionSchema, 'shape' | 'version'>,
  indexed: Indexed,
  expect: Fields = {},
): Document[] {
  const operations = operationsOf(change)
  const made = (one: Operation): unknown => {
    const isMoved = (name: string) => one.op === 'set' && expect[name] === one.value
    // An id is stored as its model says, also one that was a string.
    const isId = shapeAt(one.path, shape)?.kind === 'id'
    const former = isId ? undefined : change.unset?.find(isMoved)
    return former === undefined ? madeBy(one, shape) : `$${former}`
  }
  const stages = [...Map.groupBy(operations, ({ op }) => op)].map(([op, all]): Document => {
    if (op === 'unset') return { $unset: all.map(({ path }) => path) }
    return { $set: Object.fromEntries(all.map((one) => [one.path, made(one)])) }
  })
  if (version && (version.always || operations.some((one) => changesList(one, shape)))) {
    stages.push({ $set: { [version.key]: { $add: [numberAt(version.key), 1] } } })
  }
  stages.push(...gramStages(change, indexed, (field) => shapeAt(field, shape)))
  // The driver refuses an empty pipeline.
  return stages.length > 0 ? stages : [{ $replaceWith: '$$ROOT' }]
}

/** What a change that only replaces fields makes of a record, as the database would return it; undefined for others. */
export function replacing(
  change: Change,
  { shape, version }: Pick<CollectionSchema, 'shape' | 'version'>,
): ((record: Fields) => Fields) | undefined {
  const operations = operationsOf(change)
  const isPlain = operations.every(({ op, path }) => /^(un)?set$/.test(op) && !path.includes('.'))
  if (!isPlain || (version && shape.fields.has(version.key))) return undefined
  const set = operations.flatMap((one) => {
    return one.op === 'set' ? [[one.path, encode(one.value, shape.fields.get(one.path))]] : []
  })
  const written = BSON.serialize(Object.fromEntries(set), { ignoreUndefined: true })
  const values = fromDocument(BSON.deserialize(written), shape)
  return (record) => {
    const after = { ...record, ...values }
    for (const path of change.unset ?? []) delete after[path]
    return after
  }
}

function madeBy(operation: Operation, shape: ObjectShape): unknown {
  const { op, path } = operation
  if (op === 'add') return { $add: [numberAt(path), operation.by] }
  if (op === 'push') {
    const list = { $cond: [{ $isArray: `$${path}` }, `$${path}`, []] }
    const element = literal([operation.value], shapeAt(path, shape))
    const longer = { $concatArrays: [list, element] }
    return operation.cap === undefined ? longer : { $slice: [longer, -operation.cap] }
  }
  if (op === 'pull') {
    const { key } = operation
    const value = literal(operation.value, shapeAt(`${path}.${key}`, shape))
    const cond = { $ne: [`$$element.${key}`, value] }
    const shorter = { $filter: { input: `$${path}`, as: 'element', cond } }
    return { $cond: [{ $isArray: `$${path}` }, shorter, `$${path}`] }
  }
  return op === 'set' && literal(operation.value, shapeAt(path, shape))
}

/** Whether an operation may move elements of a list: another program that writes to one by position must notice. */
function changesList(operation: Operation, shape: ObjectShape): boolean {
  if (operation.op === 'push' || operation.op === 'pull') return true
  if (operation.op === 'add') return false
  const isList = operation.op === 'set' && isListed(operation.value)
  const at = shapeAt(operation.path, shape)
  return isList || (at !== undefined && holdsList(at))
}

function holdsList(shape: Shape): boolean {
  return shape.kind === 'list' || partsOf(shape).some(holdsList)
}

/** Whether `value` is a list or holds one: mixed values may. */
function isListed(value: unknown): boolean {
  if (Array.isArray(value)) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(isListed)
}

/** A value taken literally: without `$literal`, a string that starts with `$` would name a field. */
function literal(value: unknown, shape: Shape | undefined): Document {
  return { $literal: encode(value, shape) }
}

function numberAt(field: string): Document {
  return { $cond: [{ $isNumber: `$${field}` }, `$${field}`, 0] }
}

/** The shape of the whole value at `path`; for a list, the list's own shape. */
function shapeAt(path: string, shape: ObjectShape): Shape | undefined {
  let at: Shape | undefined = shape
  for (const key of path.split('.')) {
    if (at?.kind === 'list') at = at.element
    if (at?.kind === 'map') at = at.value
    else at = at?.kind === 'object' ? at.fields.get(key) : undefined
  }
  return at
}
