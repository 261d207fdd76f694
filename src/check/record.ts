/**
 * One stored record against its model: what it holds that the model does not declare, and what the model demands that it
 * does not hold.
 *
 * @module
 */

import { object } from 'zod/mini'
import { type $ZodIssue, type $ZodType, safeParseAsync } from 'zod/v4/core'
import type { Model } from '../model/model.ts'
import { partsIn } from '../model/parts.ts'
import { isFields } from '../model/writable.ts'
import type { Declared } from '../ports/declared.ts'
import type { Shape } from '../ports/shape.ts'
import type { Fields } from '../ports/store.ts'

/**
 * What can be wrong with a stored value: the model does not declare it, or demands one where there is none, or one of
 * another type, or refuses it for another reason.
 */
export type RecordProblem = 'undeclared' | 'missing' | 'type' | 'invalid'

/** A problem, and the path of the field that has it; elements of lists have no index in it. */
export interface Finding {
  readonly problem: RecordProblem
  readonly field: string
}

/** Finds what is wrong with stored records of `model`. Each path is named once for a record. */
export function recordChecker(model: Model): (record: Fields) => Promise<readonly Finding[]> {
  const checked = object(
    Object.fromEntries(Object.entries(model.fields).filter(([, schema]) => !isTransformed(schema))),
  )
  return async (record) => {
    const found = new Map<string, RecordProblem>()
    const add = (problem: RecordProblem, field: string) => {
      if (!found.has(field)) found.set(field, problem)
    }
    for (const path of undeclaredIn(model.declared, record, '')) add('undeclared', path)
    for (const path of otherTypesIn(model.shape, record, '')) add('type', path)
    // Null and absent are alike to filters and stores, but not to a schema.
    const { error } = await safeParseAsync(checked, record)
    for (const issue of error?.issues ?? []) {
      const problem = problemOf(issue, record)
      if (problem) add(problem, pathOf(issue))
    }
    if (found.size === 0 && model.refinements) {
      const across = await safeParseAsync(model.refinements, record)
      for (const issue of across.error?.issues ?? []) add('invalid', pathOf(issue))
    }
    return [...found].map(([field, problem]) => ({ problem, field }))
  }
}

/** Whether a schema makes something else of what it takes: a stored value has been through it, and can't go again. */
function isTransformed(schema: $ZodType): boolean {
  const { parts, rest } = partsIn(schema)
  return rest || parts.some(({ schema: { _zod } }) => _zod.def.type === 'transform')
}

function problemOf(issue: $ZodIssue, record: Fields): RecordProblem | undefined {
  // Undeclared members have been found already.
  if (issue.code === 'unrecognized_keys') return undefined
  if (issue.code !== 'invalid_type') return 'invalid'
  const value = issue.path.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null ? (at as Fields)[key as string] : undefined,
    record,
  )
  return value === undefined ? 'missing' : 'type'
}

function pathOf({ path }: $ZodIssue): string {
  return path.filter((key) => typeof key === 'string').join('.')
}

function* undeclaredIn(declared: Declared, value: unknown, path: string): Generator<string> {
  if (declared.open) return
  if (Array.isArray(value)) {
    if (!declared.elements) return
    for (const element of value) yield* undeclaredIn(declared.elements, element, path)
    return
  }
  if (!isFields(value)) return
  for (const [key, inner] of Object.entries(value)) {
    const at = path === '' ? key : `${path}.${key}`
    const inside = declared.members?.get(key) ?? declared.rest
    if (inside) yield* undeclaredIn(inside, inner, at)
    else yield at
  }
}

function* otherTypesIn(shape: Shape, value: unknown, path: string): Generator<string> {
  if (value === null || value === undefined || shape.kind === 'mixed') return
  if (!isOf(shape, value)) {
    yield path
    return
  }
  if (shape.kind === 'list') {
    for (const element of value as unknown[]) yield* otherTypesIn(shape.element, element, path)
    return
  }
  for (const [key, inner] of Object.entries(isFields(value) ? value : {})) {
    const inside = shape.kind === 'map' ? shape.value : insideOf(shape, key)
    if (inside) yield* otherTypesIn(inside, inner, path === '' ? key : `${path}.${key}`)
  }
}

function insideOf(shape: Shape, key: string): Shape | undefined {
  return shape.kind === 'object' ? shape.fields.get(key) : undefined
}

function isOf({ kind }: Shape, value: unknown): boolean {
  switch (kind) {
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === kind
    case 'id':
      return typeof value === 'string'
    case 'date':
      return value instanceof Date
    case 'list':
      return Array.isArray(value)
    default:
      return isFields(value)
  }
}
