/**
 * Rows that show in which records a list has.
 *
 * @module
 */

import { queryOf, type Rule } from './rule.ts'

type Ids = readonly string[]

/** A rule for lists whose query has `part`, and whose records there and here are in that relation. */
function listed(row: string, part: RegExp, related: (there: Ids, here: Ids) => boolean): Rule {
  return {
    row,
    explains: ({ facet, there, here }, { pair }) =>
      facet === 'records' &&
      pair.method === 'GET' &&
      part.test(queryOf(pair)) &&
      related(idsOf(there), idsOf(here)),
  }
}

const fewer = (there: Ids, here: Ids): boolean => isPart(here, there)
const more = (there: Ids, here: Ids): boolean => isPart(there, here)

/** The rules. */
export const listRules: readonly Rule[] = [
  listed(
    'a list has every record',
    /^$/,
    (there, here) => fewer(there, here) && here.length === 100,
  ),
  listed(
    '`pageSize` may be any number',
    /pageSize=200/,
    (there, here) => fewer(there, here) && here.length === 100,
  ),
  listed('an empty filter is ignored: ', /=(&|$)/, fewer),
  listed('a repeated parameter of a list field', /tags=red&tags=new/, more),
  listed('`sort`, `s`, ranges', /rangeField|compareField|\bs=|search=/, fewer),
  listed(
    'a page has 3 records',
    /\bpage=/,
    (there, here) => more(there, here) || fewer(there, here),
  ),
]

function idsOf(value: unknown): Ids {
  return Array.isArray(value) ? value.map((record) => String(record._id)) : []
}

function isPart(part: Ids, whole: Ids): boolean {
  return part.length < whole.length && part.every((id) => whole.includes(id))
}
