/**
 * The parameters that steer a list (spec 4.1): every other name in a URL is a field's, or nobody's.
 *
 * @module
 */

import type { Query } from '../../http/query-string.ts'

/** Their names. No filter by equality can bear one of them. */
export const LIST_PARAMETERS = [
  'page',
  'pageSize',
  'cursor',
  'sort',
  's',
  'search',
  'range',
  'rangeField',
  'compareField',
  'compareOperator',
  'compareValue',
] as const

/** The name of a parameter that steers a list. */
export type ListParameter = (typeof LIST_PARAMETERS)[number]

/** A query string as the parser of lists reads it: nothing else steers a list. */
export type ListParameters = Readonly<Partial<Record<ListParameter, Query[string]>>>

/**
 * The parameters that a router reads of a list: those that steer it, the fields in `equalities`, and names with a bracket,
 * which are refused. The others change no answer.
 */
export function readOf(query: Query, equalities: readonly string[]): Query {
  const read: Record<string, Query[string]> = Object.create(null)
  for (const [name, value] of Object.entries(query)) {
    const isRead = isListParameter(name) || equalities.includes(name) || name.includes('[')
    if (isRead) read[name] = value
  }
  return read
}

const names: ReadonlySet<string> = new Set(LIST_PARAMETERS)

/** Whether `name` steers lists. */
export function isListParameter(name: string): name is ListParameter {
  return names.has(name)
}
