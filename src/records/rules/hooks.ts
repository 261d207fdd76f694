/**
 * The deployer's hooks: their types, and what becomes of what they return or throw (spec 4.1, write rules).
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

/** What a `validate` hook receives beside the payload. */
export interface ValidateContext {
  readonly req: ApiRequest
  readonly res: HookResponse
  readonly operation: 'create' | 'update'
  /** The record's id on an update. */
  readonly id: string | undefined
  readonly model: Model
}

/** Checks or replaces a filtered payload. Returning nothing keeps it, returning an object replaces it. */
export type Validate<R> = (
  payload: Partial<R>,
  context: ValidateContext,
) => Partial<R> | undefined | null | void | Promise<Partial<R> | undefined | null | void>

/** `validate`: one function for both operations, or one for each. */
export type ValidateOption<R> =
  | Validate<R>
  | { readonly create?: Validate<R>; readonly update?: Validate<R> }

/** What `onGet` asks to fill in: a reference's name, one with its fields chosen, or a list of these. */
export type PopulateOption =
  | string
  | { readonly path: string; readonly select?: string | readonly string[] }
  | readonly (string | { readonly path: string; readonly select?: string | readonly string[] })[]

/** What `onGet` returns. */
export interface ReadOptions {
  readonly populate?: PopulateOption
  readonly select?: string | readonly string[]
  /** @deprecated The older name of `populate`. */
  readonly populates?: PopulateOption
  /** @deprecated The older name of `select`. */
  readonly selects?: string | readonly string[]
}

/** Chooses populate and select for a read. */
export type OnGet = (
  request: ApiRequest,
) => ReadOptions | undefined | void | Promise<ReadOptions | undefined | void>

/** A side effect after a create, before its answer. */
export type RunAfterCreate<R> = (record: R & Managed, request: ApiRequest) => unknown

/** Runs a `validate` hook; what it returns is stripped of forbidden keys again. */
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

/** What a hook throws that is no refusal is its own failure, even an error of a schema (spec 4.1, write rule 3). */
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
