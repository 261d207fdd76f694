/** Warns at start-up of lists that no index serves, with the line that fixes it. */

import { type SortKey, sortText, totalOrder } from '../../ports/store/filter.ts'
import { placeOf } from '../../ports/store/shape.ts'
import type { CollectionSchema } from '../../ports/store/store.ts'
import type { Resource } from './resource.ts'

/** One kind of list: its parameter, the field that it filters by or groups by, and its order. */
interface Need {
  readonly asked: string
  readonly equal?: string
  readonly order: readonly SortKey[]
  /** The fields that groups are computed of: an index serves them if it has them all. */
  readonly computed?: readonly string[]
}

/**
 * A warning about the lists that read every record, or undefined if indexes serve them all. `sortable` fields are what
 * clients may sort by. Ranges, filters on lists, and the fields of a scope, unknown until a request, are left to you.
 */
export function indexAdvice(resource: Resource, sortable: readonly string[]): string | undefined {
  const { model, engine, scope, host } = resource
  const needs = scope.read ? [] : needsOf(resource, sortable)
  const { exactOrder = false } = host.database
  const missing = needs.filter((need) => !isServed(engine.schema, need, exactOrder))
  if (missing.length === 0) return undefined
  const added = missing.map(({ equal, order, computed = [] }) => [
    ...(equal ? [equal] : []),
    ...order.map(nameOf),
    ...computed.filter((name) => name !== equal),
  ])
  const indexes = [...model.indexes.map((keys) => keys.map(nameOf)), ...added].map((names) => {
    const quoted = names.map((name) => `'${name}'`).join(', ')
    return names.length === 1 ? quoted : `[${quoted}]`
  })
  const asked = [...new Set(missing.map((need) => need.asked))].join(', ')
  const list = [...new Set(indexes)].join(', ')
  const line = `Write in defineModel('${model.name}', …): indexes: [${list}]`
  // The table may have them: only the model's own are looked for.
  return model.adopted
    ? `the model names no index that serves ${asked}. ${line}. Start-up then says which of them the table lacks.`
    : `no index serves ${asked}, so every record is read. ${line}`
}

function needsOf(resource: Resource, sortable: readonly string[]): Need[] {
  const { model, query, orderBy, host } = resource
  // What is read backwards has the ids of ties backwards too.
  const turns = host.database.exactOrder ? [false, true] : [false]
  const others = sortable.filter((field) => turns.length > 1 || field !== orderBy[0]?.field)
  const sorts = [
    ...(orderBy.length > 0 ? [orderBy] : []),
    ...others.flatMap((field) => turns.map((descending) => [{ field, descending }])),
  ]
  return [
    ...sorts.map((order): Need => ({ asked: `?sort=${order.map(nameOf)[0]}`, order })),
    ...query
      .filter((field) => placeOf(model.shape, field)?.parts.length === 1)
      .map((equal): Need => {
        return { asked: `?${equal}=`, equal, order: orderBy.filter(({ field }) => field !== equal) }
      }),
    ...groupNeeds(resource),
  ]
}

/** What groups are made of is read in an index alone, if there is one; MongoDB reads every document in any case. */
function groupNeeds({ aggregates: { by, of }, host }: Resource): Need[] {
  if (host.database.exactOrder) return []
  const computed = [...of.keys()]
  return [...new Set([...by.values()].map(({ field }) => field))].map((equal) => {
    return { asked: `groups by '${equal}'`, equal, order: [], computed }
  })
}

/**
 * Whether an index, or its reverse, serves the order. If that is to be `exact`, an index is of use only with the whole of
 * its order, `_id` included, and a unique one only for equality.
 */
function isServed(
  { indexes, unique }: CollectionSchema,
  { equal, order, computed }: Need,
  exact: boolean,
): boolean {
  if (computed) {
    return indexes.some(([first, ...others]) => {
      const names = [first, ...others].map((key) => key?.field)
      return first?.field === equal && computed.every((name) => names.includes(name))
    })
  }
  const whole = totalOrder(order)
  const first = equal ?? whole[0]?.field ?? '_id'
  const isUnique = unique.some(([field, ...others]) => field === first && others.length === 0)
  if (first === '_id' || ((equal || !exact) && isUnique)) return true
  // Every index ends with `_id`.
  const wanted = exact && order.length > 0 ? whole : whole.slice(0, -1)
  return indexes.some((index) => {
    const keys = totalOrder(index)
    if (equal !== undefined && keys[0]?.field !== equal) return false
    const rest = keys.slice(equal === undefined ? 0 : 1).slice(0, wanted.length)
    const turned = rest.map(({ field, descending }) => ({ field, descending: !descending }))
    return [rest, turned].some((one) => sortText(one) === sortText(wanted))
  })
}

function nameOf({ field, descending }: SortKey): string {
  return descending ? `-${field}` : field
}
