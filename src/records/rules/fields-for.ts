/** `fieldsFor`: which fields of the records a request may see, filter, sort and search by. */

import { type ApiRequest, RequestData } from '../../http/request/request.ts'
import type { Managed, Model } from '../../model/model.ts'
import { noSuchField } from '../../model/suggest.ts'
import type { MaybePromise } from '../../ports/promises/maybe-promise.ts'
import { topOf } from '../../ports/values/paths.ts'
import { runHook } from './hooks.ts'

/** The names of fields, or nothing for all of them. */
export type ReadableNames<R> = readonly ((keyof R & string) | keyof Managed)[] | undefined | void

/**
 * Names the fields that a request may see, filter, sort and search by. `_id` is always among them. Return undefined for
 * all visible fields. An unknown name is a 500, and so is an error, unless it is an `HttpError`.
 */
export type FieldsFor<R> = (request: ApiRequest) => ReadableNames<R> | Promise<ReadableNames<R>>

/** The names of the top-level fields that a request may see; undefined for all that are not hidden. */
export type ReadableFields = ReadonlySet<string> | undefined

export interface Readable {
  readonly model: Model
  readonly fieldsFor: FieldsFor<never> | undefined
}

/** What `request` may see of the records of `readable`. The option is called once per request. */
export function readableFields(
  readable: Readable,
  request: ApiRequest,
): MaybePromise<ReadableFields> {
  const { model, fieldsFor } = readable
  if (!fieldsFor) return undefined
  const known = resolved.of(request) ?? new Map<Readable, Promise<ReadableFields>>()
  resolved.set(request, known)
  const fields = known.get(readable) ?? resolve(model, fieldsFor, request)
  known.set(readable, fields)
  return fields
}

/** Whether the field at `path`, or around it, is among `fields`. */
export function isReadable(fields: ReadableFields, path: string): boolean {
  return fields === undefined || fields.has(topOf(path))
}

/** A response is cached under the very fields that it shows, and a write is refused before it if they are unknown. */
const resolved = new RequestData<Map<Readable, Promise<ReadableFields>>>('readable fields')

async function resolve(
  model: Model,
  fieldsFor: FieldsFor<never>,
  request: ApiRequest,
): Promise<ReadableFields> {
  const names = await runHook('fieldsFor', request, () => fieldsFor(request))
  if (names === undefined) return undefined
  // `null` and `false` come from a slip, such as an absent user; they must not show everything.
  if (!Array.isArray(names)) {
    throw new TypeError('fieldsFor must return a list of field names, or undefined for all fields')
  }
  for (const name of names) {
    if (!model.shape.fields.has(name))
      throw new TypeError(noSuchField('fieldsFor', String(name), model))
    if (model.hidden.includes(name))
      throw new TypeError(`'fieldsFor' lists '${name}', which is hidden`)
  }
  return new Set(
    [...model.shape.fields.keys()].filter((name) => name === '_id' || names.includes(name)),
  )
}
