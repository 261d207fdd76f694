/**
 * What a client chooses of what it may see: `select` names fields, `expand` references to fill in. It sees nothing by these that
 * it would not see without them, or where `onGet` fills the reference in.
 */

import { notExpandable, notNames, notSelectable } from '../../http/errors/refusals.ts'
import type { Query } from '../../http/request/request.ts'
import type { Model } from '../../model/model.ts'
import { visible, visiblePaths } from '../../model/versions/present.ts'
import type { Projection } from '../../ports/store/records.ts'
import { hasPath } from '../../ports/store/shape.ts'
import { isWithin } from '../../ports/values/paths.ts'
import type { Models } from '../engine/models.ts'
import type { ReadableFields } from '../rules/fields-for.ts'
import { targetOf } from '../setup/expandables.ts'
import type { Population, Resource, View } from '../setup/resource.ts'

/** The fields and references that a request names. */
export interface Choice {
  readonly select?: readonly string[] | undefined
  readonly expand?: readonly string[] | undefined
}

/** The most names in `select`, and in `expand`. */
export const MAX_NAMES = 100

/** What the URL of one record chooses; undefined for nothing. */
export function choiceInUrl(query: Query): Choice | undefined {
  const choices = (['select', 'expand'] as const).flatMap((name) => {
    // `select[]=name` is refused as an empty one is, as in lists.
    const isShaped = Object.keys(query).some((one) => one.startsWith(`${name}[`))
    const value = isShaped ? '' : query[name]
    return value === undefined ? [] : namesInUrl(name, value)
  })
  return choices.length === 0 ? undefined : Object.assign({}, ...choices)
}

/** The names in a URL, separated by commas. */
export function namesInUrl(parameter: keyof Choice, value: string | readonly string[]): Choice {
  const names = [value].flat().flatMap((list) => list.split(','))
  return namesInBody(parameter, names)
}

export function namesInBody(parameter: keyof Choice, names: unknown): Choice {
  const isList = Array.isArray(names) && names.length > 0 && names.length <= MAX_NAMES
  if (!isList || names.some((name) => typeof name !== 'string' || name === '')) {
    throw notNames(parameter, MAX_NAMES)
  }
  return { [parameter]: [...new Set(names)] }
}

export interface ChoiceRules extends Pick<Resource, 'model' | 'expandable' | 'lean'> {
  readonly host: Pick<Models, 'modelNamed'>
}

/** `view` with what `choice` leaves of it and fills in, as far as it is seen. Throws a 400 for what isn't shown. */
export function chosenOf(rules: ChoiceRules, view: View, choice: Choice, seen: SeenThrough): View {
  const { model, lean } = rules
  const { expand = [], select } = choice
  const filled = new Map(view.populate.map((one) => [one.path, one]))
  for (const name of expand) addExpansion(rules, view, filled, name, seen)
  if (!select) return { ...view, populate: [...filled.values()] }
  const expanded = expand.map((name) => rules.expandable.get(name)?.path ?? name)
  return picked({ ...view, populate: [...filled.values()] }, model, select, expanded, lean)
}

/**
 * What `names` leave of `view`, with the references in `expanded`: a name may lead into the records behind these. `start` is
 * what comes before names in a request.
 */
function picked<V extends Pick<Population, 'select' | 'chosen' | 'populate'>>(
  view: V,
  model: Model,
  names: readonly string[],
  expanded: readonly string[],
  lean: boolean,
  start = '',
): V {
  /** What is named of the records behind a reference. */
  const inside = new Map<string, readonly string[]>()
  const paths = names.flatMap((name) => {
    const path = expanded.find((one) => name.startsWith(`${one}.`))
    if (path === undefined) {
      const shown = pathsShown(model, view.select, name)
      if (shown.length === 0) throw notSelectable(start + name)
      return shown
    }
    inside.set(path, [...(inside.get(path) ?? []), name.slice(path.length + 1)])
    return []
  })
  const populate = view.populate?.map((one) => {
    const { path, target } = one
    const named = inside.get(path)
    const deeper = (one.populate ?? []).map((inner) => inner.path)
    const inner = named && picked(one, target, named, deeper, lean, `${start}${path}.`)
    // Beside a name of the whole, one inside it takes nothing away.
    return inner && !paths.some((whole) => isWithin(path, whole)) ? inner : one
  })
  // The model's `output` still gets whole records, as everywhere.
  const part = model.output && !lean ? 'chosen' : 'select'
  return { ...view, ...(populate && { populate }), [part]: { include: [...paths, ...expanded] } }
}

/** Which fields of a model's records are seen behind references. */
export type SeenThrough = (model: Model) => ReadableFields

/** Fills in the reference that clients know as `name`. What `onGet` fills in stays as narrow as it is. */
function addExpansion(
  { host, model, expandable }: ChoiceRules,
  view: View,
  filled: Map<string, Population>,
  name: string,
  seen: SeenThrough,
): void {
  const { path, inner } = expandable.get(name) ?? {}
  const target = path === undefined ? undefined : targetOf(host, model, path)
  if (path === undefined || !target || pathsShown(model, view.select, path).length === 0) {
    throw notExpandable(name)
  }
  const known = filled.get(path) ?? {
    path,
    target,
    select: visible(target, undefined, seen(target)),
  }
  filled.set(path, known)
  if (inner === undefined) return
  const behind = targetOf(host, target, inner)
  if (!behind || pathsShown(target, known.select, inner).length === 0) throw notExpandable(name)
  const deeper = { path: inner, target: behind, select: visible(behind, undefined, seen(behind)) }
  filled.set(path, { ...known, populate: [...(known.populate ?? []), deeper] })
}

/** `path`, or the paths inside it that `select` leaves; none if it is no field, or not shown. */
function pathsShown(model: Model, select: Projection | undefined, path: string): readonly string[] {
  if (!hasPath(model.shape, path.split('.'))) return []
  // Every record shows its id, whatever else is left of it.
  if (!select || path === '_id') return [path]
  if ('exclude' in select) return visiblePaths({ ...model, hidden: select.exclude }, path)
  return select.include.flatMap((one) => {
    if (isWithin(path, one)) return [path]
    return isWithin(one, path) ? [one] : []
  })
}
