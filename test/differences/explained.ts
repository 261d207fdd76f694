/**
 * Which rows of the table for the 1.x in docs/differences.md a difference is due to.
 *
 * @module
 */

import type { Compared, Difference } from './compare.ts'
import type { Rule } from './rule.ts'
import { headerRules } from './rules-headers.ts'
import { listRules } from './rules-lists.ts'
import { recordRules } from './rules-records.ts'
import { statusRules } from './rules-status.ts'

const rules: readonly Rule[] = [...headerRules, ...statusRules]

/** Words of the rows that explain a difference, each found by one rule; empty if none does. */
export function explained(difference: Difference, compared: Compared): string[] {
  if (difference.facet !== 'records' && difference.facet !== 'stored')
    return rules
      .filter((rule) => rule.explains(difference, compared))
      .slice(0, 1)
      .map(({ row }) => row)
  const { rows, same, there } = recordRules(difference, compared)
  if (same) return rows
  const list = listRules.find((rule) => rule.explains({ ...difference, there }, compared))
  return list ? [...rows, list.row] : []
}
