/** What `find` and `count` of `app.store` take beyond one collection: searches, and references that are filled in. */

import { isHidden, type Model } from '../../model/model.ts'
import { matches } from '../../ports/evaluation/evaluate.ts'
import { pages } from '../../ports/evaluation/walk.ts'
import { all, any, BY_ID, type Filter } from '../../ports/store/filter.ts'
import type { ObjectShape, Shape } from '../../ports/store/shape.ts'
import { projectionOf, type Reach, type Reachable } from '../engine/find-options.ts'
import { chosenOf } from '../read/choice.ts'
import { populate } from '../read/populate.ts'
import { type Expandable, expandableAt } from '../setup/expandables.ts'
import { searchFilter, searchInBody } from './search.ts'

/** The most characters of a term, as of a router. */
const MAX_SEARCH_LENGTH = 128

const search: Reach['search'] = async (from, model, filter, given) => {
  const { search: term } = searchInBody({ maxSearchLength: MAX_SEARCH_LENGTH }, given)
  if (term === undefined) return filter
  const searched = from.searchedIn(model)
  if (searched.length === 0) return readThrough(from, model, filter, term)
  const rules = {
    ...{ host: from, mount: `app.store: ${model.name}`, allowRawRegex: false, hints: {} },
    maxRelationMatches: Number.MAX_SAFE_INTEGER,
  }
  const found = await searchFilter(rules, { search: term, searched }, undefined)
  return all([filter, found])
}

/** The records that hold the term in any string: stores search only what they were prepared for. */
async function readThrough(
  from: Reachable,
  model: Model,
  filter: Filter,
  term: string,
): Promise<Filter> {
  const { stored } = from.engine(model)
  const include = stringsIn(model, model.shape)
  const isFound = any(include.map((field): Filter => ({ op: 'contains', field, text: term })))
  const values: string[] = []
  const read = { filter, sort: BY_ID, select: { include: ['_id', ...include] } }
  for await (const page of pages(stored, read)) {
    for (const record of page) if (matches(isFound, record, model)) values.push(String(record._id))
  }
  return { op: 'in', field: '_id', values }
}

/** The paths of all strings that are not hidden, and of lists of them. */
function stringsIn(model: Model, { fields }: ObjectShape, before = ''): string[] {
  return [...fields].flatMap(([name, shape]) => {
    const path = `${before}${name}`
    if (isHidden(model, path) && !model.hidden.some((one) => one.startsWith(`${path}.`))) return []
    const value: Shape = shape.kind === 'list' ? shape.element : shape
    if (value.kind === 'object') return stringsIn(model, value, `${path}.`)
    return value.kind === 'string' && !value.stored ? [path] : []
  })
}

const expand: Reach['expand'] = (from, model, names, select) => {
  const expandable = new Map<string, Expandable>()
  for (const name of names) {
    const found = expandableAt(model, name)
    if (found) expandable.set(name, found)
  }
  const whole = { select: undefined, populate: [], cacheable: false }
  const kept = select?.some((name) => !name.startsWith('-')) ? select : undefined
  const rules = { host: from, model, expandable, lean: false }
  const view = chosenOf(rules, whole, { expand: names, select: kept }, () => undefined)
  const most = Number.MAX_SAFE_INTEGER
  const limits = { maxPopulated: most, maxResponseBytes: most }
  const options = { ...rules, request: undefined, isSent: false, hints: {}, ...limits }
  return {
    select: kept ? (view.select ?? view.chosen) : projectionOf(model, select),
    fill: (records) => populate(records, view.populate, options),
  }
}

export const reach: Reach = { search, expand }
