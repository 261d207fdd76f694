/** Start-up checks of a router's options that do not concern fields: names, types and numbers. */

import { isObjectOf } from '../../model/definition-checks.ts'
import * as rule from '../../model/option-rules.ts'
import { type Fail, isFunction, isNames, type Rule } from '../../model/option-rules.ts'
import { isFields } from '../../model/writable.ts'
import type { Fields } from '../../ports/store/records.ts'
import { refuseMiddlewares } from '../engine/guards.ts'
import type { RouterOptions } from './options.ts'

const names: Rule = { must: 'be a list of field names', test: isNames }
const sortNames: Rule = {
  must: 'be a field name, or a list of them',
  test: (value) => isNames([value].flat()),
}
const OPERATIONS = ['create', 'update']
const writable: Rule = {
  must: 'be a list of field names, or { create, update } of such lists',
  test: (value) => isNames(value) || isObjectOf(value, OPERATIONS, isNames),
}
const hooks: Rule = {
  must: 'be a function, or { create, update } of functions',
  test: (value) => isFunction(value) || isObjectOf(value, OPERATIONS, isFunction),
}
const scopes: Rule = {
  must: 'be a function, or { read, write } with a function each',
  // Both are needed: if one were missing, "no limit" would be a guess.
  test: (value) =>
    isFunction(value) ||
    (isObjectOf(value, ['read', 'write'], isFunction) && Boolean(value.read && value.write)),
}
const guards: Rule = {
  must: 'be a list of functions',
  test: (value) => Array.isArray(value) && value.every(isFunction),
}

const RULES: Readonly<Record<keyof RouterOptions<Fields>, Rule>> = {
  model: {
    test: (value) => (value as { shape?: unknown } | null)?.shape !== undefined,
    must: 'be a model made by defineModel',
  },
  orderBy: sortNames,
  ...rule.each(names, 'query', 'search', 'filterableFields', 'sortableFields', 'expandable'),
  ...rule.each(rule.callable, 'onGet', 'runAfterCreate', 'beforeUpdate', 'afterUpdate'),
  ...rule.each(rule.callable, 'beforeRemove', 'afterRemove', 'fieldsFor'),
  ...rule.each(rule.flag, 'strictAfterCreate', 'allowRawRegex', 'lean', 'allowDiskUse'),
  ...rule.each(rule.flag, 'history', 'live', 'enableQuery', 'methodOverride', 'legacyMode'),
  ...rule.each(rule.natural, 'maxLimit', 'defaultPageSize', 'maxPage', 'maxTimeMS'),
  ...rule.each(rule.natural, 'maxSearchLength', 'maxRelationMatches', 'maxPopulated'),
  ...rule.each(rule.natural, 'maxResponseBytes', 'batchSize'),
  ...rule.each(rule.whatever, 'cache', 'upload'),
  aggregates: {
    must: 'be { by, of } with lists of field names',
    test: (value) => isObjectOf(value, ['by', 'of'], isNames),
  },
  exportLimit: {
    must: 'be a whole number of at least 0, or Infinity',
    test: (value) => value === Number.POSITIVE_INFINITY || rule.natural.test(value) || value === 0,
  },
  allowedFields: writable,
  blockedFields: writable,
  validate: hooks,
  pagination: rule.oneOf('offset', 'cursor'),
  countStrategy: rule.oneOf('exact', 'estimated', 'none'),
  middlewares: guards,
  access: { must: 'be an object', test: isFields },
  scope: scopes,
  ownedBy: { must: 'be the name of a reference', test: (value) => typeof value === 'string' },
}

export function checkSimpleOptions(options: RouterOptions<Fields>, fail: Fail): void {
  // The model is checked even if it is not given.
  rule.checkOptions({ ...options, model: options?.model ?? null }, RULES, fail)
  refuseMiddlewares(`'middlewares'`, options.middlewares ?? [], fail)
  const { maxLimit = 100, defaultPageSize = 1 } = options
  if (defaultPageSize > maxLimit) {
    fail(`'defaultPageSize' (${defaultPageSize}) is above 'maxLimit' (${maxLimit})`)
  }
}
