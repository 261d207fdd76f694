/**
 * Start-up checks of a router's options that concern no field: names, types and numbers.
 *
 * @module
 */

import type { Fields } from '../ports/store.ts'
import type { RouterOptions } from './options.ts'

/** What an option's value must be: a test, and the words for what fails it. */
interface Rule {
  readonly test: (value: unknown) => boolean
  readonly must: string
}

const isNames = (value: unknown): boolean =>
  Array.isArray(value) && value.every((name) => typeof name === 'string')

const isFunction = (value: unknown): boolean => typeof value === 'function'

/** A value for both operations, or an object with one for each of them. */
const isForOperations = (value: unknown, test: (value: unknown) => boolean): boolean => {
  if (test(value)) return true
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const known = Object.keys(value).every((key) => key === 'create' || key === 'update')
  return known && Object.values(value).every((item) => item === undefined || test(item))
}

const whatever: Rule = { test: () => true, must: '' }
const flag: Rule = {
  test: (value) => typeof value === 'boolean',
  must: 'be true or false',
}
const natural: Rule = {
  test: (value) => Number.isSafeInteger(value) && (value as number) >= 1,
  must: 'be a whole number of at least 1',
}
const names: Rule = { test: isNames, must: 'be a list of field names' }
const sortNames: Rule = {
  test: (value) => isNames([value].flat()),
  must: 'be a field name, or a list of them',
}
const writable: Rule = {
  test: (value) => isForOperations(value, isNames),
  must: 'be a list of field names, or { create, update } of such lists',
}
const hook: Rule = { test: isFunction, must: 'be a function' }
const hooks: Rule = {
  test: (value) => isForOperations(value, isFunction),
  must: 'be a function, or { create, update } of functions',
}
const guards: Rule = {
  test: (value) => Array.isArray(value) && value.every(isFunction),
  must: 'be a list of functions',
}
const oneOf = (...choices: readonly unknown[]): Rule => ({
  test: (value) => choices.includes(value),
  must: `be one of ${choices.join(', ')}`,
})

/** Every option's name and what it must be. */
const RULES: Readonly<Record<keyof RouterOptions<Fields>, Rule>> = {
  model: {
    test: (value) => (value as { shape?: unknown } | null)?.shape !== undefined,
    must: 'be a model that defineModel made',
  },
  orderBy: sortNames,
  query: names,
  search: names,
  filterableFields: names,
  sortableFields: names,
  allowedFields: writable,
  blockedFields: writable,
  validate: hooks,
  onGet: hook,
  runAfterCreate: hook,
  strictAfterCreate: flag,
  pagination: oneOf('offset', 'cursor'),
  countStrategy: oneOf('exact', 'estimated', 'none'),
  maxLimit: natural,
  defaultPageSize: natural,
  maxPage: natural,
  maxTimeMS: natural,
  maxSearchLength: natural,
  maxRelationMatches: natural,
  allowRawRegex: flag,
  lean: flag,
  allowDiskUse: flag,
  batchSize: natural,
  middlewares: guards,
  enableQuery: flag,
  legacyMode: flag,
  cache: whatever,
  upload: whatever,
  scope: hook,
}

/** Refuses unknown options, values of the wrong type and numbers that make no sense. */
export function checkSimpleOptions(
  options: RouterOptions<Fields>,
  fail: (message: string) => never,
): void {
  // The model is checked even when it is not given.
  const given = { ...options, model: options?.model ?? null }
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(RULES, name)) fail(`unknown option '${name}'`)
    const { test, must } = RULES[name as keyof typeof RULES]
    if (value !== undefined && !test(value)) fail(`'${name}' must ${must}`)
  }
  const { maxLimit = 100, defaultPageSize = 1 } = options
  if (defaultPageSize > maxLimit) {
    fail(`'defaultPageSize' (${defaultPageSize}) is above 'maxLimit' (${maxLimit})`)
  }
}
