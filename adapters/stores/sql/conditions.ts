/**
 * Conditions of SQL, joined.
 *
 * @module
 */

/** The conjunction of the conditions. */
export function every(conditions: readonly string[]): string {
  return join(conditions, ' AND ', 'TRUE')
}

/** The disjunction of the conditions. */
export function some(conditions: readonly string[]): string {
  return join(conditions, ' OR ', 'FALSE')
}

/** The exact opposite of a condition, which may be NULL. */
export function not(condition: string): string {
  return condition === 'FALSE' ? 'TRUE' : `(${condition}) IS NOT TRUE`
}

/** A `WHERE` clause of `conditions`, with a leading space; empty if all records meet them. */
export function whereAll(conditions: readonly string[]): string {
  const condition = every(conditions)
  return condition === 'TRUE' ? '' : ` WHERE ${condition}`
}

/** So many conditions are joined in a row; more as a balanced tree: D1 refuses expressions deeper than 100. */
const MAX_IN_A_ROW = 4

/** Conditions without effect are left out, because SQLite uses no index beside them. */
function join(conditions: readonly string[], operator: string, none: string): string {
  const [first = none] = conditions
  if (conditions.length <= 1) return first
  const kept = conditions.includes(none) ? conditions.filter((one) => one !== none) : conditions
  if (kept.length <= 1) return kept[0] ?? none
  return `(${kept.length <= MAX_IN_A_ROW ? kept.join(operator) : halved(kept, operator)})`
}

function halved(conditions: readonly string[], operator: string): string {
  if (conditions.length <= MAX_IN_A_ROW) return conditions.join(operator)
  const middle = conditions.length >> 1
  const [left, right] = [conditions.slice(0, middle), conditions.slice(middle)]
  return `(${halved(left, operator)})${operator}(${halved(right, operator)})`
}
