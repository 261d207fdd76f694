/** Start-up checks of a router's options that do not concern fields: names, types and numbers. */

import {
  callable,
  checkOptions,
  each,
  type Fail,
  flag,
  isFunction,
  isNames,
  natural,
  oneOf,
  type Rule,
  whatever,
} from '../../model/option-rules.ts'
import { isFields } from '../../model/writable.ts'
import type { Fields } from '../../ports/store/records.ts'
import { refuseMiddlewares } from '../engine/guards.ts'
import type { RouterOptions } from './options.ts'

const names: Rule = { must: 'be a list of field names', test: isNames }
const sortNames: Rule = {
  must: 'be a field name, or a list of them',
  test: (value) => isNames([value].flat()),
}
const writable: Rule = {
  must: 'be a list of field names, or { create, update } of such lists',
  test: (value) => isForOperations(value, isNames),
}
const hooks: Rule = {
  must: 'be a function, or { create, update } of functions',
  test: (value) => isForOperations(value, isFunction),
}
const scopes: Rule = {
  must: 'be a function, or { read, write } with a function each',
  test: (value) => isFunction(value) || isScopePair(value),
}
const guards: Rule = {
  must: 'be a list of functions',
  test: (value) => Array.isArray(value) && value.every(isFunction),
}

/** Every option's name, and what its value must be. */
const RULES: Readonly<Record<keyof RouterOptions<Fields>, Rule>> = {
  model: {
    test: (value) => (value as { shape?: unknown } | null)?.shape !== undefined,
    must: 'be a model made by defineModel',
  },
  orderBy: sortNames,
  ...each(names, 'query', 'search', 'filterableFields', 'sortableFields', 'expandable'),
  ...each(
    callable,
    'onGet',
    'runAfterCreate',
    'beforeUpdate',
    'afterUpdate',
    'beforeRemove',
    'afterRemove',
    'fieldsFor',
  ),
  ...each(
    flag,
    'strictAfterCreate',
    'allowRawRegex',
    'lean',
    'allowDiskUse',
    'history',
    'live',
    'enableQuery',
    'methodOverride',
    'legacyMode',
  ),
  ...each(
    natural,
    'maxLimit',
    'defaultPageSize',
    'maxPage',
    'maxTimeMS',
    'maxSearchLength',
    'maxRelationMatches',
    'maxPopulated',
    'maxResponseBytes',
    'batchSize',
  ),
  ...each(whatever, 'cache', 'upload'),
  aggregates: {
    must: 'be { by, of } with lists of field names',
    test: isAggregates,
  },
  exportLimit: {
    must: 'be a whole number of at least 0, or Infinity',
    test: (value) => value === Number.POSITIVE_INFINITY || natural.test(value) || value === 0,
  },
  allowedFields: writable,
  blockedFields: writable,
  validate: hooks,
  pagination: oneOf('offset', 'cursor'),
  countStrategy: oneOf('exact', 'estimated', 'none'),
  middlewares: guards,
  access: { must: 'be an object', test: isFields },
  scope: scopes,
  ownedBy: { must: 'be the name of a reference', test: (value) => typeof value === 'string' },
}

/** Refuses unknown options, values of the wrong type, and invalid numbers. */
export function checkSimpleOptions(options: RouterOptions<Fields>, fail: Fail): void {
  // The model is checked even if it is not given.
  checkOptions({ ...options, model: options?.model ?? null }, RULES, fail)
  refuseMiddlewares(`'middlewares'`, options.middlewares ?? [], fail)
  const { maxLimit = 100, defaultPageSize = 1 } = options
  if (defaultPageSize > maxLimit) {
    fail(`'defaultPageSize' (${defaultPageSize}) is above 'maxLimit' (${maxLimit})`)
  }
}

/** Whether `value` passes for both operations, or is an object with a value that passes for each of them. */
function isForOperations(value: unknown, test: (value: unknown) => boolean): boolean {
  if (test(value)) return true
  if (!isFields(value)) return false
  const known = Object.keys(value).every((key) => key === 'create' || key === 'update')
  return known && Object.values(value).every((item) => item === undefined || test(item))
}

function isAggregates(value: unknown): boolean {
  if (!isFields(value)) return false
  const { by, of, ...others } = value
  return (
    Object.keys(others).length === 0 && [by, of].every((one) => one === undefined || isNames(one))
  )
}

function isScopePair(value: unknown): boolean {
  if (!isFields(value)) return false
  // Both are needed: if one were missing, "no limit" would be a guess.
  const { read, write, ...others } = value
  return isFunction(read) && isFunction(write) && Object.keys(others).length === 0
}
