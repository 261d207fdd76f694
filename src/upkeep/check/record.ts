/** One stored record against its model: what it holds beyond that, and what it lacks. */

import { object } from 'zod/mini'
import { type $ZodIssue, type $ZodType, safeParseAsync } from 'zod/v4/core'
import { type Model, timestampFields } from '../../model/model.ts'
import { idFrom } from '../../model/values/cast.ts'
import { isTransformed, membersAt, otherTypesIn } from '../../model/values/fits.ts'
import type { Declared } from '../../ports/store/declared.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Some } from '../tally.ts'

/** What can be wrong with a stored value; `invalid` is what the model refuses for a reason of its own. */
export type RecordProblem = 'undeclared' | 'missing' | 'type' | 'invalid'

/**
 * A kind of problem that records of one model have in one field; of a duplicate or an overlap, fields with commas between
 * them. The examples of an overlap are pairs of ids.
 */
export interface Problem extends Some {
  readonly model: string
  readonly problem: RecordProblem | 'duplicate' | 'overlap' | 'unmatched'
  readonly field: string
}

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
    const add = (problem: RecordProblem, fields: Iterable<string>) => {
      for (const field of fields) if (!found.has(field)) found.set(field, problem)
    }
    const lacking = timestampFields(model.timestamps).filter((name) => record[name] === undefined)
    add('missing', lacking)
    if (idFrom(String(record._id), model.idType) === undefined) add('invalid', ['_id'])
    // Mongoose's version key is in no record, but a store shows it if it has a name of its own.
    const undeclared = [...undeclaredIn(model.declared, record, '')]
    const others = undeclared.filter((path) => path !== model.version?.key)
    add('undeclared', others)
    add('type', otherTypesIn(model.shape, record, ''))
    for (const issue of await issuesOf(checked, record)) {
      const problem = problemOf(issue, record)
      if (problem) add(problem, [pathOf(issue)])
    }
    if (found.size === 0 && model.refinements) {
      add('invalid', (await issuesOf(model.refinements, record)).map(pathOf))
    }
    return [...found].map(([field, problem]) => ({ problem, field }))
  }
}

async function issuesOf(schema: $ZodType, record: Fields): Promise<readonly $ZodIssue[]> {
  return (await safeParseAsync(schema, record)).error?.issues ?? []
}

function problemOf(issue: $ZodIssue, record: Fields): RecordProblem | undefined {
  // Undeclared members have been found already.
  if (issue.code === 'unrecognized_keys') return undefined
  const value = issue.path.reduce<unknown>((at, key) => Object(at)[key], record)
  // An enum, a literal and a union have codes of their own; 'custom' is a rule that takes no value as one.
  if (value === undefined && issue.code !== 'custom') return 'missing'
  return issue.code === 'invalid_type' ? 'type' : 'invalid'
}

function pathOf({ path }: $ZodIssue): string {
  return path.filter((key) => typeof key === 'string').join('.')
}

function* undeclaredIn(declared: Declared, value: unknown, path: string): Generator<string> {
  if (declared.open) return
  if (Array.isArray(value)) {
    const { elements } = declared
    if (elements) for (const element of value) yield* undeclaredIn(elements, element, path)
    return
  }
  for (const [at, key, inner] of membersAt(value, path)) {
    const inside = declared.members?.get(key) ?? declared.rest
    if (inside) yield* undeclaredIn(inside, inner, at)
    else yield at
  }
}
