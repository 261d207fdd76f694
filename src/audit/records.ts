/** What the routes of a resource read and write. */

import { isHidden, type Model } from '../model/model.ts'
import type { Shape } from '../ports/store/shape.ts'
import { isWithin } from '../ports/values/paths.ts'
import type { FieldSet, Resource } from '../records/setup/resource.ts'
import { queryFields, type Serving } from '../records/setup/serving.ts'
import { writableNow } from '../records/setup/write-rules.ts'

/** The fields that a client can reach through a route, by what it can do with them. */
export interface FieldColumns {
  /** What responses show. */
  readonly read: readonly string[]
  /** What a body may set. */
  readonly write: readonly string[]
  readonly filter: readonly string[]
  readonly sort: readonly string[]
  readonly search: readonly string[]
  /** The references that a client may fill in. */
  readonly expand?: readonly string[]
  /** The most records of a list that is sent as a file, if it may be. */
  readonly export?: number
  /** Whether it may be followed, as a stream of events. */
  readonly live?: true
  /** What a QUERY may group records by. */
  readonly group?: readonly string[]
  /** The fields that a QUERY may compute with. */
  readonly aggregate?: readonly string[]
  /** The parameters in the path of a route of your own, if it describes them. */
  readonly params?: readonly string[]
  /** Those of its URL. */
  readonly query?: readonly string[]
  /** Whether `onGet` may fill in the records that `read` refers to, or leave fields out. */
  readonly onGet?: true
  /** Whether `fieldsFor` may show less to some readers. */
  readonly fieldsFor?: true
  /** Whether the model's `output` makes something else of records. */
  readonly output?: true
  /** The fields that take files. */
  readonly upload?: readonly string[]
  /** Whether searches may be regular expressions. */
  readonly rawRegex?: true
}

export const NO_FIELDS: FieldColumns = { read: [], write: [], filter: [], sort: [], search: [] }

export interface Reach extends FieldColumns {
  readonly model: string | null
  readonly scope: boolean
}

export function recordFields({ resource, operation }: Serving): Reach {
  const { model, scope } = resource
  const isList = operation === 'list' || operation === 'query'
  const written = operation === 'restore' ? 'update' : operation
  const isWrite = written === 'create' || written === 'update'
  const shows = operation !== 'delete'
  return {
    model: model.name,
    scope: (isWrite || !shows ? scope.write : scope.read) !== undefined,
    read: shows ? shownFields(model) : [],
    write: isWrite ? writableNow(resource, written) : [],
    ...(isList ? listed(resource, operation) : { filter: [], sort: [], search: [] }),
    ...grouped(resource, operation),
    ...(shows && operation !== 'create' && resource.onGet && { onGet: true }),
    ...(shows && resource.fieldsFor && { fieldsFor: true }),
    ...(shows && model.output && !resource.lean && { output: true }),
    ...(isWrite && resource.upload && { upload: [...resource.upload.fields.keys()] }),
    ...expanded(resource, operation),
  }
}

/** The fields of a record that responses show; a nested one by its path if something beside it is hidden. */
export function shownFields(model: Pick<Model, 'shape' | 'hidden'>): readonly string[] {
  const shown = (path: string, shape: Shape): readonly string[] => {
    if (!isHidden(model, path)) return [path]
    return membersOf(shape).flatMap(([key, member]) => shown(`${path}.${key}`, member))
  }
  return membersOf(model.shape).flatMap(([name, shape]) => shown(name, shape))
}

function expanded({ expandable }: Resource, operation: Serving['operation']) {
  const isRead = operation === 'list' || operation === 'query' || operation === 'read'
  return isRead && expandable.size > 0 ? { expand: [...expandable.keys()] } : {}
}

function listed(resource: Resource, operation: 'list' | 'query') {
  const { model, query, urlFilterable, urlSortable } = resource
  const { filter, sort, search } = queryFields(resource)
  const among = (set: FieldSet) => {
    // Of a schema that refers to itself, there is no end of paths.
    const leads = (to: string) => !(set instanceof Set) || [...set].some((one) => isWithin(one, to))
    return pathsOf(model.shape, leads).filter((path) => set.has(path))
  }
  const isUrl = operation === 'list'
  return {
    filter: [...new Set(isUrl ? [...query, ...among(urlFilterable)] : filter)],
    sort: isUrl ? among(urlSortable) : sort,
    search,
    ...(resource.exportLimit > 0 && { export: resource.exportLimit }),
    ...(resource.live && { live: true as const }),
    ...(resource.allowRawRegex && resource.search.length > 0 && { rawRegex: true as const }),
  }
}

/** What groups may be made by and computed of. Every QUERY may count, so that is not said. */
function grouped(resource: Resource, operation: Serving['operation']): Partial<FieldColumns> {
  if (operation !== 'query') return {}
  const { by, aggregate } = queryFields(resource)
  return { ...(by.length > 0 && { group: by }), ...(aggregate.length > 0 && { aggregate }) }
}

/** Every path to a value that `leads` somewhere. */
function pathsOf(shape: Shape, leads: (path: string) => boolean, before = ''): readonly string[] {
  return membersOf(shape).flatMap(([key, member]) => {
    const path = `${before}${key}`
    return leads(path) ? [path, ...pathsOf(member, leads, `${path}.`)] : []
  })
}

/** The members of an object, or of the objects in a list. */
function membersOf(shape: Shape): readonly (readonly [string, Shape])[] {
  if (shape.kind === 'list') return membersOf(shape.element)
  return shape.kind === 'object' ? [...shape.fields] : []
}
