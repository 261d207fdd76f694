/**
 * Objects that keep the order of their members. BSON has an order, and zod puts members into that of the schema: a
 * subdocument that is written back would not be the same.
 */

import type { $ZodType, ParseContextInternal, ParsePayload } from 'zod/v4/core'

type Result = ParsePayload | Promise<ParsePayload>
type Parse = (payload: ParsePayload, context: ParseContextInternal) => Result

/** `schema`, an object, so that what it makes has its members as they were given, and then what it adds. */
export function inOrder<S extends $ZodType>(schema: S): S {
  const internals = schema._zod
  const { parse, run } = internals as unknown as { parse: Parse; run: Parse }
  const ordered: Parse = (payload, context) => {
    const keys =
      typeof payload.value === 'object' && payload.value ? Object.keys(payload.value) : []
    const result = parse(payload, context)
    return result instanceof Promise
      ? result.then((parsed) => inOrderOf(keys, parsed))
      : inOrderOf(keys, result)
  }
  internals.parse = ordered as typeof internals.parse
  // A schema without checks has one function for both.
  if (run === parse) internals.run = ordered as typeof internals.run
  return schema
}

function inOrderOf(keys: readonly string[], payload: ParsePayload): ParsePayload {
  const { value } = payload
  if (typeof value !== 'object' || value === null) return payload
  const made = new Map(Object.entries(value))
  const given = keys.filter((key) => made.has(key))
  const names = new Set([...given, ...made.keys()])
  payload.value = Object.fromEntries([...names].map((name) => [name, made.get(name)]))
  return payload
}
