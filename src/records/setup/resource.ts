/** A mounted resource: the router's options, checked and resolved once, as the handlers use them. */

import type { CacheSettings } from '../../cache/options.ts'
import {
  isHidden,
  isMixed,
  isOrdered,
  type Model,
  SEVERAL_TYPES,
  sortKey,
} from '../../model/model.ts'
import { type Fail, failAs } from '../../model/option-rules.ts'
import { visible } from '../../model/versions/present.ts'
import { type SortKey, totalOrder } from '../../ports/store/filter.ts'
import type { Fields, Projection, ReadHints } from '../../ports/store/records.ts'
import { placeOf, type Shape } from '../../ports/store/shape.ts'
import { type Host, needs } from '../engine/host.ts'
import type { SearchField } from '../engine/models.ts'
import { checkIds, type RecordEngine } from '../engine/record-engine.ts'
import type { Guard } from '../engine/route.ts'
import type { FieldsFor } from '../rules/fields-for.ts'
import type { OnGet } from '../rules/hooks.ts'
import type { Scopes } from '../rules/scope.ts'
import { resolveAccess, type ServedActions } from './access.ts'
import { type AggregateRules, aggregateRules } from './aggregates.ts'
import { checkShown, type Expandable, expandables, searchFields } from './expandables.ts'
import { checkSimpleOptions } from './option-checks.ts'
import type { RouterOptions, Setup } from './options.ts'
import { type WriteRules, writeRules } from './write-rules.ts'

export interface FieldSet {
  has(field: string): boolean
}

/** Options as they were given, or their defaults. */
type Resolved<N extends keyof RouterOptions<Fields>> = Required<Pick<RouterOptions<Fields>, N>>

type ListOption =
  | ('maxSearchLength' | 'maxRelationMatches' | 'allowRawRegex' | 'methodOverride' | 'legacyMode')
  | ('pagination' | 'countStrategy' | 'maxLimit' | 'defaultPageSize' | 'maxPage')

/** What clients may ask of a list, and how it is returned. */
export interface ListRules extends Resolved<ListOption> {
  readonly model: Model
  /** The fields of `?<field>=`. */
  readonly query: readonly string[]
  readonly equalities: readonly { readonly field: string; readonly shape: Shape }[]
  /** What a QUERY body may filter by and sort by. */
  readonly filterable: ReadonlySet<string>
  readonly sortable: ReadonlySet<string>
  /** What URL parameters may range over, compare and sort by; legacy mode lifts only these lists. */
  readonly urlFilterable: FieldSet
  readonly urlSortable: FieldSet
  /** What a QUERY body may group by and compute with. */
  readonly aggregates: AggregateRules
  readonly orderBy: readonly SortKey[]
  /** The same, with `_id` as the last key. */
  readonly order: readonly SortKey[]
  readonly search: readonly SearchField[]
}

export interface Population {
  readonly path: string
  readonly target: Model
  readonly select: Projection | undefined
  /** What a client chose, for a model with `output`: it gets the whole record, and this part of its result is shown. */
  readonly chosen?: Projection | undefined
  readonly populate?: readonly Population[]
}

/** How the records of one response are shown. */
export interface View {
  readonly select: Projection | undefined
  readonly chosen?: Projection | undefined
  readonly populate: readonly Population[]
  /** False if `onGet` failed: the response is then not what was meant, so it is not kept. */
  readonly cacheable: boolean
}

type ReadOption = 'exportLimit' | 'live' | 'lean' | 'maxPopulated' | 'maxResponseBytes'

export interface ReadRules extends Resolved<ReadOption> {
  /** How records are shown where neither the request nor `onGet` says otherwise. */
  readonly plainView: View
  readonly onGet: OnGet | undefined
  /** The references that clients may expand, by the names that they use. */
  readonly expandable: ReadonlyMap<string, Expandable>
  readonly hints: ReadHints
  readonly cache?: CacheSettings | undefined
}

/** What the handlers of one router share. It does not change after start-up. */
export interface Resource extends ListRules, ReadRules, WriteRules {
  readonly host: Host
  readonly mount: string
  readonly engine: RecordEngine
  readonly middlewares: readonly Guard[]
  readonly access: ServedActions
  readonly scope: Scopes
  readonly fieldsFor: FieldsFor<Fields> | undefined
  /** Whether it has neither a scope nor `fieldsFor`. */
  readonly isUnlimited: boolean
}

export function failAt(mount: string): Fail {
  return failAs(`Router '${mount}'`)
}

/** Resolves a router's options. Throws a `TypeError` naming the router, the option and the field. */
export function resolveResource(
  host: Host,
  mount: string,
  options: RouterOptions<Fields>,
): Resource {
  const fail = failAt(mount)
  const setup = { host, mount, options, fail }
  checkSimpleOptions(options, fail)
  const { model, middlewares = [], scope } = options
  const legacyMode = options.legacyMode === true
  if (legacyMode) {
    host.logger.warn(
      `Router '${mount}': 'legacyMode' lets clients write, filter and sort by every visible field, without limits. It will be removed in 4.0.`,
    )
  }
  checkParts(setup)
  checkDatabase(setup, legacyMode)
  const engine = host.engine(model)
  const access = resolveAccess(options, fail)
  // A scope may give new records ids of its own.
  if (access.create && !scope) checkIds(engine, host.database.name, fail)
  return {
    ...{ host, mount, engine, access },
    middlewares,
    scope: typeof scope === 'object' ? scope : { read: scope, write: scope },
    fieldsFor: options.fieldsFor,
    isUnlimited: !scope && !options.fieldsFor,
    ...fieldRules(setup, legacyMode),
    ...pageRules(setup, legacyMode),
    aggregates: aggregateRules(model, options.aggregates ?? {}, fail),
    model,
    search: searchFields(host, model, mount, options.search ?? [], fail),
    // 2.x ran search terms as patterns; if the store cannot do so safely they stay literal.
    allowRawRegex: options.allowRawRegex ?? (legacyMode && host.database.rawRegex),
    ...readRules(setup),
    ...writeRules(setup),
  }
}

/** The options that need a part of the app. */
const PARTS = {
  cache: 'caching',
  history: 'history',
  live: 'live',
  exportLimit: 'exports',
} as const

function checkParts({ host: { parts }, options, fail }: Setup): void {
  for (const [name, part] of Object.entries(PARTS)) {
    if (options[name as keyof typeof PARTS] && !parts[part]) fail(`'${name}' ${needs(part)}`)
  }
}

/** Checks the options that not every database, or not every model, is made for. */
function checkDatabase({ host, options, fail }: Setup, legacyMode: boolean): void {
  const { model } = options
  for (const name of ['history', 'live'] as const) {
    if (!options[name] || model.changes) continue
    fail(`'${name}' needs the log of changes. Set changes: true in the model '${model.name}'`)
  }
  if (options.live && (options.allowRawRegex ?? legacyMode)) {
    fail(`'live' cannot be used with patterns: 'allowRawRegex' must be false`)
  }
  if (options.allowRawRegex && !host.database.rawRegex) {
    fail(`'allowRawRegex' cannot be used with the store '${host.database.name}'`)
  }
}

function fieldRules({ options, fail }: Setup, legacyMode: boolean) {
  const { model } = options
  const reach = (option: string, names: readonly string[]) => {
    for (const name of names) {
      const { kind } = checkShown(model, option, name, fail)
      const isObject = kind === 'object' || kind === 'map'
      if (isObject) fail(`'${option}' names '${name}', which is an object`)
    }
    return names
  }
  const order = (option: string, names: readonly string[]) => {
    for (const name of reach(option, names)) {
      if (isOrdered(model.shape, name)) continue
      const reason = isMixed(model.shape, name) ? SEVERAL_TYPES : 'which has no order'
      fail(`'${option}' names '${name}', ${reason}`)
    }
    return names
  }
  const isVisible = (name: string) =>
    placeOf(model.shape, name) !== undefined && !isHidden(model, name)
  const orderBy = [options.orderBy ?? []].flat().map(sortKey)
  const orderFields = orderBy.map((key) => key.field)
  order('orderBy', orderFields)
  const query = reach('query', options.query ?? [])
  const filterable = new Set(reach('filterableFields', options.filterableFields ?? query))
  const sortable = new Set(
    options.sortableFields
      ? order('sortableFields', options.sortableFields)
      : [...query.filter((name) => isOrdered(model.shape, name)), ...orderFields],
  )
  return {
    query,
    equalities: query.map((field) => ({
      field,
      shape: placeOf(model.shape, field)?.shape ?? ({ kind: 'mixed' } as const),
    })),
    filterable,
    sortable,
    urlFilterable: legacyMode ? { has: isVisible } : filterable,
    urlSortable: legacyMode
      ? { has: (name: string) => isOrdered(model.shape, name) && isVisible(name) }
      : sortable,
    orderBy,
    order: totalOrder(orderBy),
  }
}

function pageRules({ host, options }: Setup, legacyMode: boolean) {
  const { pagination = 'offset', countStrategy = 'exact', maxLimit = 100 } = options
  const { defaultPageSize = Math.min(50, maxLimit), maxPage = Number.POSITIVE_INFINITY } = options
  const { maxSearchLength = 128, maxRelationMatches = 1000 } = options
  const { methodOverride = host.methodOverride } = options
  return {
    ...{ pagination, countStrategy, maxLimit, defaultPageSize, maxPage },
    ...{ maxSearchLength, maxRelationMatches, methodOverride, legacyMode },
  }
}

function readRules({ host, options, fail }: Setup): ReadRules {
  const { onGet, lean = false, maxTimeMS, allowDiskUse, batchSize } = options
  const { maxPopulated = host.maxPopulated, maxResponseBytes = host.maxResponseBytes } = options
  const hints: ReadHints = {
    ...(maxTimeMS !== undefined && { timeLimitMs: maxTimeMS }),
    ...(allowDiskUse !== undefined && { allowDiskUse }),
    ...(batchSize !== undefined && { batchSize }),
  }
  const plainView = { select: visible(options.model), populate: [], cacheable: true }
  const expandable = expandables(host, options.model, options.expandable ?? [], fail)
  const { exportLimit = 0, live = false } = options
  return {
    ...{ plainView, onGet, expandable, exportLimit, live, lean, hints },
    ...{ maxPopulated, maxResponseBytes },
  }
}
