/**
 * Rules by which users narrow a list, and the conditions of a QUERY that they are.
 *
 * @module
 */

import type { Values } from './data.ts'
import type { Resource } from './document.ts'
import type { Field } from './fields.ts'

/** One rule: a field, an operator, and a value as it was typed. */
export interface Rule {
  readonly field: string
  readonly operator: Operator
  readonly value: string
}

/** The operators of a QUERY, and two of people. */
export type Operator = 'eq' | 'ne' | 'gte' | 'lte' | 'gt' | 'lt' | 'empty' | 'set'

const ORDERED: readonly Operator[] = ['eq', 'ne', 'gte', 'lte', 'gt', 'lt']
const OPERATORS: Partial<Record<Field['kind'], readonly Operator[]>> = {
  number: ORDERED,
  integer: ORDERED,
  date: ['gte', 'lte', 'gt', 'lt', 'eq', 'ne'],
  datetime: ['gte', 'lte', 'gt', 'lt', 'eq', 'ne'],
  boolean: ['eq'],
}

/** The operators for a field, as far as the router takes them. */
export function operatorsFor(field: Field, taken: readonly string[]): readonly Operator[] {
  const fitting = OPERATORS[field.kind] ?? (['eq', 'ne'] as const)
  const found = fitting.filter((one) => taken.includes(one))
  const takesNull = taken.includes('ne') && !field.isRequired
  return takesNull ? [...found, 'empty', 'set'] : found
}

/** Whether a rule is complete. */
export function isComplete({ operator, value }: Rule): boolean {
  return operator === 'empty' || operator === 'set' || value !== ''
}

/** The filter that rules make; undefined if there are none. */
export function conditionsOf(
  rules: readonly Rule[],
  any: boolean,
  { filters }: Pick<Resource, 'filters'>,
): Readonly<Record<string, unknown>> | undefined {
  const conditions = rules.filter(isComplete).map((rule) => {
    // Of a field that is not there any more the app says so: without the rule, there would be more than was asked for.
    const field = filters.find((one) => one.field.name === rule.field)?.field
    return { name: rule.field, condition: conditionOf(rule, field) }
  })
  if (conditions.length === 0) return undefined
  if (any && conditions.length > 1) {
    return { or: conditions.map(({ name, condition }) => ({ [name]: simplified(condition) })) }
  }
  const merged = new Map<string, Record<string, unknown>>()
  for (const { name, condition } of conditions) {
    merged.set(name, both(merged.get(name) ?? {}, condition))
  }
  return Object.fromEntries([...merged].map(([name, condition]) => [name, simplified(condition)]))
}

/** Two conditions on one field, which both hold: each operator is there once, so another says what the second one does. */
function both(
  held: Readonly<Record<string, unknown>>,
  condition: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const [[operator = '', value] = []] = Object.entries(condition)
  if (!(operator in held)) return { ...held, ...condition }
  if (operator === 'ne') return { ...held, nin: [...((held.nin as unknown[]) ?? []), value] }
  if (operator === 'eq') return { ...held, in: [value] }
  const isStricter = operator.startsWith('g')
    ? (value as string) > (held[operator] as string)
    : (value as string) < (held[operator] as string)
  return isStricter ? { ...held, ...condition } : held
}

/** A value alone means that it must be equal, which a URL can say too. */
function simplified(condition: Readonly<Record<string, unknown>>): unknown {
  return Object.keys(condition).join() === 'eq' && condition.eq !== null ? condition.eq : condition
}

function conditionOf({ operator, value }: Rule, field: Field | undefined): Record<string, unknown> {
  if (operator === 'empty') return { eq: null }
  if (operator === 'set') return { ne: null }
  return { [operator]: typed(value, field) }
}

/** What was typed, as the field's type. */
function typed(value: string, { kind, options }: Partial<Field> = {}): unknown {
  // An address may have anything: the app says what is wrong with it.
  const isNumber = kind === 'number' || kind === 'integer'
  if (isNumber && !Number.isNaN(Number(value))) return Number(value)
  if (kind === 'boolean' && /^(?:true|false)$/.test(value)) return value === 'true'
  if (kind === 'datetime' && !Number.isNaN(Date.parse(value))) return new Date(value).toISOString()
  return options?.find((one) => String(one) === value) ?? value
}

/** What a list is narrowed by. */
export interface Narrowing {
  readonly q?: string
  readonly rules?: readonly Rule[]
  /** Whether one of the rules is enough. */
  readonly any?: boolean
}

/** Whether the `filter` of an address is a narrowing: less than was asked for must not be taken for all there is. */
export function isNarrowing(text: string | null): boolean {
  try {
    const { q = '', rules = [], any = false, ...others } = JSON.parse(text ?? '{}')
    const areRules = Array.isArray(rules) && rules.every(isRule)
    return areRules && isText(q) && typeof any === 'boolean' && Object.keys(others).length === 0
  } catch {
    return false
  }
}

const isText = (value: unknown) => typeof value === 'string'

function isRule(rule: Partial<Rule>): boolean {
  const { field, operator = '', value = '' } = rule
  return isText(field) && isText(value) && isComplete({ operator, value } as Rule)
}

/** A narrowing as the client takes it. */
export function wantedOf({ q, rules = [], any = false }: Narrowing, resource: Resource): Values {
  const where = conditionsOf(rules, any, resource)
  return { ...(q && { search: q }), ...(where && { where }) }
}
