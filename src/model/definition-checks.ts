/**
 * Start-up checks of a model's options and field names. (Checks of single paths are elsewhere.)
 *
 * @module
 */

import {
  callable,
  checkOptions,
  type Fail,
  flag,
  isNames,
  oneOf,
  type Rule,
} from './option-rules.ts'
import { isForbiddenKey } from './writable.ts'

const fieldSets: Rule = {
  must: 'be a list of field names, or of lists of them',
  test: (value) =>
    Array.isArray(value) && value.every((set) => typeof set === 'string' || isNames(set)),
}

const RULES: Readonly<Record<string, Rule>> = {
  fields: {
    must: 'be an object of zod schemas',
    test: (value) => typeof value === 'object' && value !== null,
  },
  timestamps: flag,
  unique: fieldSets,
  indexes: fieldSets,
  hidden: { must: 'be a list of field names', test: isNames },
  output: callable,
  collection: { must: 'be a name', test: (value) => typeof value === 'string' && value !== '' },
  id: oneOf('objectId', 'uuid', 'integer', 'text'),
  table: { must: 'be a name', test: (value) => typeof value === 'string' && value !== '' },
  columns: {
    must: 'be an object of column names',
    test: (value) =>
      typeof value === 'object' &&
      value !== null &&
      Object.values(value).every((name) => typeof name === 'string' && name !== ''),
  },
}

/** Refuses unknown options, and values that make no sense. */
export function checkDefinition(definition: object, fail: Fail): void {
  checkOptions({ fields: null, ...definition }, RULES, fail)
}

/** Refuses names that a field cannot have. */
export function checkFieldNames(names: readonly string[], fail: Fail): void {
  for (const name of names) {
    if (isForbiddenKey(name)) fail(`'fields' must not contain '${name}', which the server sets`)
    if (/["\u0000-\u001f]/.test(name) || name === '') fail(`a field cannot be named '${name}'`)
    // Every object has such a member, so a lookup would find one even if the record lacks it.
    if (name in Object.prototype)
      fail(`a field cannot be named '${name}': every object has a member of this name`)
    // MongoDB's driver treats an index or filter with this name as one of its own values, and a model must work on
    // every store.
    if (name === '_bsontype')
      fail(`a field cannot be named '${name}': MongoDB's driver reserves it`)
  }
}
