/**
 * Start-up checks of a router's options that concern no field: names, types and numbers.
 *
 * @module
 */

import type { Fields } from '../ports/store.ts'
import type { RouterOptions } from './options.ts'

type Kind = 'any' | 'list' | 'boolean' | 'function' | 'positive' | readonly string[]

/** Every option's name and what it must be. */
const OPTIONS: Readonly<Record<keyof RouterOptions<Fields>, Kind>> = {
  model: 'any',
  orderBy: 'any',
  query: 'list',
  search: 'list',
  filterableFields: 'list',
  sortableFields: 'list',
  allowedFields: 'any',
  blockedFields: 'any',
  validate: 'any',
  onGet: 'function',
  runAfterCreate: 'function',
  strictAfterCreate: 'boolean',
  pagination: ['offset', 'cursor'],
  countStrategy: ['exact', 'estimated', 'none'],
  maxLimit: 'positive',
  defaultPageSize: 'positive',
  maxPage: 'positive',
  maxTimeMS: 'positive',
  maxSearchLength: 'positive',
  maxRelationMatches: 'positive',
  allowRawRegex: 'boolean',
  lean: 'boolean',
  allowDiskUse: 'boolean',
  batchSize: 'positive',
  middlewares: 'list',
  enableQuery: 'boolean',
  legacyMode: 'boolean',
  upload: 'any',
  scope: 'function',
}

/** Refuses unknown options, values of the wrong type and numbers that make no sense. */
export function checkSimpleOptions(
  options: RouterOptions<Fields>,
  fail: (message: string) => never,
): void {
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(OPTIONS, name) ? OPTIONS[name as keyof typeof OPTIONS] : undefined
    if (!kind) fail(`unknown option '${name}'`)
    if (value !== undefined && kind) checkKind(name, value, kind, fail)
  }
  if (!options.model?.shape) fail(`'model' must be a model that defineModel made`)
  checkLists(options, fail)
  const { maxLimit = 100, defaultPageSize } = options
  if (defaultPageSize !== undefined && defaultPageSize > maxLimit) {
    fail(`'defaultPageSize' (${defaultPageSize}) is above 'maxLimit' (${maxLimit})`)
  }
}

function checkKind(
  name: string,
  value: unknown,
  kind: Kind,
  fail: (message: string) => never,
): void {
  if (typeof kind === 'object') {
    if (!kind.includes(value as string)) fail(`'${name}' must be one of ${kind.join(', ')}`)
    return
  }
  if (kind === 'boolean' && typeof value !== 'boolean') fail(`'${name}' must be true or false`)
  if (kind === 'function' && typeof value !== 'function') fail(`'${name}' must be a function`)
  if (kind === 'list' && !Array.isArray(value)) fail(`'${name}' must be a list`)
  if (kind === 'positive' && !(Number.isSafeInteger(value) && (value as number) >= 1)) {
    fail(`'${name}' must be a whole number of at least 1`)
  }
}

/** `allowedFields`, `blockedFields` and `validate`: one value, or an object with `create` and `update`. */
function checkLists(options: RouterOptions<Fields>, fail: (message: string) => never): void {
  for (const name of ['allowedFields', 'blockedFields'] as const) {
    const value = options[name]
    const lists = value === undefined ? [] : Array.isArray(value) ? [value] : byOperation(name, value, fail)
    if (!lists.every((list) => Array.isArray(list) && list.every((field) => typeof field === 'string'))) {
      fail(`'${name}' must be a list of field names, or { create, update } of such lists`)
    }
  }
  const { validate, middlewares = [] } = options
  if (validate !== undefined && typeof validate !== 'function') {
    const hooks = byOperation('validate', validate, fail)
    if (!hooks.every((hook) => typeof hook === 'function')) fail(`'validate' must be a function`)
  }
  if (!middlewares.every((guard) => typeof guard === 'function')) {
    fail(`'middlewares' must be a list of functions`)
  }
}

function byOperation(name: string, value: unknown, fail: (message: string) => never): unknown[] {
  if (typeof value !== 'object' || value === null) return [value]
  for (const key of Object.keys(value)) {
    if (key !== 'create' && key !== 'update') fail(`'${name}' has the unknown key '${key}'`)
  }
  return Object.values(value).filter((item) => item !== undefined)
}
