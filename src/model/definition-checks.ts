/**
 * Start-up checks of a model's definition that concern no single field: names and types of its options.
 *
 * @module
 */

import { isForbiddenKey } from './writable.ts'

type Check = readonly [must: string, test: (value: unknown) => boolean]

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const fieldSets: Check = [
  'be a list of field names, or of lists of them',
  (value) => Array.isArray(value) && value.every((set) => isText(set) || isTexts(set)),
]

const OPTIONS: Readonly<Record<string, Check>> = {
  fields: ['be an object of zod schemas', (value) => typeof value === 'object' && value !== null],
  timestamps: ['be true or false', (value) => typeof value === 'boolean'],
  unique: fieldSets,
  indexes: fieldSets,
  hidden: ['be a list of field names', isTexts],
  output: ['be a function', (value) => typeof value === 'function'],
  collection: ['be a name', isText],
  id: ["be 'objectId' or 'uuid'", (value) => value === 'objectId' || value === 'uuid'],
}

/** Refuses unknown options, and values that make no sense; an option that is undefined counts as not given. */
export function checkDefinition(definition: object, fail: (message: string) => never): void {
  const given = { fields: null, ...definition }
  for (const [option, value] of Object.entries(given)) {
    if (!Object.hasOwn(OPTIONS, option)) fail(`unknown option '${option}'`)
    const [must, test] = OPTIONS[option] as Check
    if (value !== undefined && !test(value)) fail(`'${option}' must ${must}`)
  }
}

/** Refuses names that a field cannot have. */
export function checkFieldNames(names: readonly string[], fail: (message: string) => never): void {
  for (const name of names) {
    if (isForbiddenKey(name)) fail(`'fields' may not name '${name}', which the server keeps`)
    if (/["\u0000-\u001f]/.test(name) || name === '') fail(`'${name}' is no name for a field`)
  }
}
