/**
 * Your app's hooks: their types, and what happens with what they return or throw (spec 4.1, write rules).
 *
 * @module
 */

import { inTime } from '../../http/deadline.ts'
import { HttpError } from '../../http/errors.ts'
import type { ApiRequest } from '../../http/request.ts'
import type { Managed, Model } from '../../model/model.ts'
import { isFields, isForbiddenKey } from '../../model/writable.ts'
import type { Fields } from '../../ports/store.ts'
import { checkStatus, type HookResponse } from './hook-response.ts'
import { cleaned } from './policy.ts'

/** The second argument of a `validate` hook, after the payload. */
export interface ValidateContext {
  readonly req: ApiRequest
  /** Sets the status and headers of a successful response. */
  readonly res: HookResponse
  readonly operation: 'create' | 'update'
  /** The record's id on an update. */
  readonly id: string | undefined
  readonly model: Model
}

/**
 * What the client has sent for the fields that it may write. The values are not cast or checked yet, so a field of
 * numbers may hold a string.
 */
export type Payload<R> = { [Name in keyof R]?: unknown }

/**
 * Checks or replaces a filtered payload. Return nothing to keep it, or an object to replace it; throw a
 * `ValidationError` or `HttpError` to refuse it. Anything else that it throws is a 500.
 */
export type Validate<R> = (
  payload: Payload<R>,
  context: ValidateContext,
) => Payload<R> | undefined | null | void | Promise<Payload<R> | undefined | null | void>

/** `validate`: one function for both operations, or one for each. */
export type ValidateOption<R> =
  | Validate<R>
  | { readonly create?: Validate<R>; readonly update?: Validate<R> }

/** What `onGet` fills in: the name of a reference, one with selected fields, or a list of these. */
export type PopulateOption =
  | string
  | { readonly path: string; readonly select?: string | readonly string[] }
  | readonly (string | { readonly path: string; readonly select?: string | readonly string[] })[]

/** What `onGet` returns. */
export interface ReadOptions {
  /** The references to fill in. Default: none. */
  readonly populate?: PopulateOption
  /** The fields to return: names to keep, or names with `-` in front to leave out. Default: all. */
  readonly select?: string | readonly string[]
  /** @deprecated The older name of `populate`. */
  readonly populates?: PopulateOption
  /** @deprecated The older name of `select`. */
  readonly selects?: string | readonly string[]
}

/** Chooses populate and select for a read. If it throws, the read goes on without either. */
export type OnGet = (
  request: ApiRequest,
) => ReadOptions | undefined | void | Promise<ReadOptions | undefined | void>

/** A side effect after a create, awaited before the response. */
export type RunAfterCreate<R> = (record: R & Managed, request: ApiRequest) => unknown

/** Runs a `validate` hook; forbidden keys are stripped from what it returns. */
export async function runValidate(
  hook: Validate<Fields> | undefined,
  payload: Fields,
  context: ValidateContext,
): Promise<Fields> {
  if (!hook) return payload
  const result = await hooked(() => inTime(context.req, () => hook(payload, context)))
  checkStatus(context.res)
  if (result === undefined || result === null) return stripped(payload)
  if (!isFields(result)) {
    throw new TypeError(
      `the validate hook of '${context.model.name}' must return an object or nothing`,
    )
  }
  return stripped(result)
}

/**
 * An error from a hook other than `HttpError` is the hook's own failure, even an error of a schema (spec 4.1, write
 * rule 3).
 */
async function hooked(hook: () => unknown): Promise<unknown> {
  try {
    return await hook()
  } catch (error) {
    throw error instanceof HttpError ? error : new Error('a validate hook failed', { cause: error })
  }
}

async function stripped(payload: Fields): Promise<Fields> {
  const kept: Fields = {}
  for (const [field, value] of Object.entries(payload)) {
    if (isForbiddenKey(field)) continue
    kept[field] = await cleaned(field, value)
  }
  return kept
}
