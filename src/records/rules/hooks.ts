/** Your app's hooks: their types, and what happens with what they return or throw. */

import { inTime } from '../../http/deadline.ts'
import { HttpError } from '../../http/errors/errors.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { runShielded } from '../../http/request/shield.ts'
import type { FieldName, Managed, Model, SortName } from '../../model/model.ts'
import { noSuchField } from '../../model/suggest.ts'
import { copied, declaredPart } from '../../model/versions/present.ts'
import { isFields, isForbiddenKey } from '../../model/writable.ts'
import { idsOf, type Logger } from '../../ports/services/logger.ts'
import { WITHOUT_BODY } from '../../ports/services/statuses.ts'
import type { Fields } from '../../ports/store/records.ts'
import { stackText } from '../../ports/values/causes.ts'
import type { Context } from '../engine/route.ts'
import { cleaned } from './policy.ts'

/** What a `validate` hook may set on a successful response. */
export interface HookResponse {
  status: number | undefined
  readonly headers: Headers
}

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
  about: ValidateContext,
  context: Context,
) => Payload<R> | undefined | null | void | Promise<Payload<R> | undefined | null | void>

/** `validate`: one function for both operations, or one for each. */
export type ValidateOption<R> =
  | Validate<R>
  | { readonly create?: Validate<R>; readonly update?: Validate<R> }

/** What `onGet` fills in: the name of a reference, one with selected fields, or a list of these. */
export type PopulateOption<R = Fields> = Population<R> | readonly Population<R>[]

/** A reference of `R`, or one with the fields to show of what it leads to. */
type Population<R> =
  | FieldName<R>
  | { readonly path: FieldName<R>; readonly select?: string | readonly string[] }

/** What `onGet` returns. */
export interface ReadOptions<R = Fields> {
  /** The references to fill in. Default: none. */
  readonly populate?: PopulateOption<R>
  /** The fields to return: names to keep, or names with `-` in front to leave out. Default: all. */
  readonly select?: string | readonly SortName<R>[]
  /** @deprecated The older name of `populate`. */
  readonly populates?: PopulateOption<R>
  /** @deprecated The older name of `select`. */
  readonly selects?: string | readonly SortName<R>[]
}

/** Chooses populate and select for a read. If it throws, the read goes on without either. */
export type OnGet<R = Fields> = (
  request: ApiRequest,
  context: Context,
) => ReadOptions<R> | undefined | void | Promise<ReadOptions<R> | undefined | void>

/** A side effect after a create, awaited before the response. */
export type RunAfterCreate<R> = (
  record: R & Managed,
  request: ApiRequest,
  context: Context,
) => unknown

/** The fields that an update writes, as they will be stored; undefined removes a field. */
export type Changes<R> = { -readonly [Name in keyof R]?: R[Name] }

/** An update that is about to be written. */
export interface PendingUpdate<R> {
  /** The stored record, hidden fields included. */
  readonly record: R & Managed
  /** What the client changes: allowed, validated and cast. */
  readonly changes: Changes<R>
  readonly request: ApiRequest
}

/**
 * Judges an update by the stored record. Return the changes to write, or nothing to write `changes` as they are then;
 * throw a `ValidationError` or `HttpError` to refuse the update. Anything else that it throws is a 500. The update is
 * only written if the record is still the same; otherwise the hook runs once more, with the new record.
 */
export type BeforeUpdate<R> = (
  update: PendingUpdate<R>,
  context: Context,
) => Changes<R> | undefined | null | void | Promise<Changes<R> | undefined | null | void>

/**
 * Judges the removal of a record: throw an `HttpError` to refuse it. The record is only removed if it is still the same;
 * otherwise the hook runs once more, with the new record.
 */
export type BeforeRemove<R> = (
  removal: {
    /** The stored record, hidden fields included. */
    readonly record: R & Managed
    readonly request: ApiRequest
  },
  context: Context,
) => undefined | null | void | Promise<undefined | null | void>

/** A side effect after an update, awaited before the response. If it fails, the error is logged. */
export type AfterUpdate<R> = (
  update: {
    /** The record as this update found it. */
    readonly before: R & Managed
    /** The record as this update left it. */
    readonly record: R & Managed
    readonly request: ApiRequest
  },
  context: Context,
) => unknown

/** A side effect after the removal of a record, awaited before the response. If it fails, the error is logged. */
export type AfterRemove<R> = (
  removal: {
    /** The removed record. */
    readonly record: R & Managed
    readonly request: ApiRequest
  },
  context: Context,
) => unknown

/** A payload that a `validate` hook, if there is one, has left, and what it has set on the response. */
export interface Validated {
  readonly values: Fields
  readonly res?: HookResponse
}

/** Runs a `validate` hook; forbidden keys are stripped from what it returns. */
export async function runValidate(
  hook: Validate<Fields>,
  payload: Fields,
  about: Omit<ValidateContext, 'res'>,
  context: Context,
): Promise<Validated> {
  const own = { ...about, res: { status: undefined, headers: new Headers() } }
  const result = await runHook('validate', about.req, () => hook(payload, own, context))
  checkStatus(own.res)
  const values = withoutForbidden(about.model, replacing('validate', about.model, result, payload))
  return { values, res: own.res }
}

export interface StoredUpdate {
  readonly record: Fields
  readonly changes: Fields
  readonly request: ApiRequest
  readonly context: Context
}

/** Runs `beforeUpdate` on copies, and strips forbidden keys. Throws a `TypeError` for a field that the model lacks. */
export async function runBeforeUpdate(
  hook: BeforeUpdate<Fields>,
  model: Model,
  { record, changes, request, context }: StoredUpdate,
): Promise<Fields> {
  const given = { record: hookRecord(model, record), changes: copied(changes), request }
  const result = await runHook('beforeUpdate', request, () => hook(given, context))
  const wanted = withoutForbidden(model, replacing('beforeUpdate', model, result, given.changes))
  for (const field of Object.keys(wanted)) {
    if (!Object.hasOwn(model.fields, field)) {
      throw new TypeError(noSuchField('beforeUpdate', field, model))
    }
  }
  return wanted
}

export async function runBeforeRemove(
  hook: BeforeRemove<Fields>,
  model: Model,
  record: Fields,
  request: ApiRequest,
  context: Context,
): Promise<void> {
  const given = { record: hookRecord(model, record), request }
  const result = await runHook('beforeRemove', request, () => hook(given, context))
  // E.g. false: a hook that means to refuse must not be taken for one that agrees.
  if (result === undefined || result === null) return
  throw new TypeError(
    `the beforeRemove hook of '${model.name}' must throw to refuse, or return nothing`,
  )
}

/** A stored record as hooks see it, hidden fields included: a copy, because the write is compared with the stored one. */
export function hookRecord(model: Model, record: Fields): Fields & Managed {
  return copied(declaredPart(model, record)) as Fields & Managed
}

/** What a hook returned in place of `given`, which nothing leaves as it is. */
function replacing(name: string, model: Model, result: unknown, given: Fields): Fields {
  if (result === undefined || result === null) return given
  if (isFields(result)) return result
  throw new TypeError(`the ${name} hook of '${model.name}' must return an object or nothing`)
}

/** Runs a hook within the time of `request`. Any error but an `HttpError` is its own failure (spec 4.1, write rule 3). */
export async function runHook(
  name: string,
  request: ApiRequest,
  hook: () => unknown,
): Promise<unknown> {
  try {
    return await inTime(request, hook)
  } catch (error) {
    throw error instanceof HttpError ? error : new Error(`a ${name} hook failed`, { cause: error })
  }
}

function withoutForbidden({ input }: Model, payload: Fields): Fields {
  const kept: Fields = {}
  for (const [field, value] of Object.entries(payload)) {
    if (isForbiddenKey(field)) continue
    kept[field] = cleaned(field, value, input)
  }
  return kept
}

/** Runs a hook after a write, which stays: a failure is only logged, unless the hook is `strict`, then it is a 500. */
export async function runAfterWrite(
  { mount, host }: { readonly mount: string; readonly host: { readonly logger: Logger } },
  request: ApiRequest,
  name: 'runAfterCreate' | 'afterUpdate' | 'afterRemove',
  hook: () => unknown,
  strict = false,
): Promise<void> {
  try {
    await runShielded(request, hook)
  } catch (error) {
    const message = `Router '${mount}': ${name} failed`
    if (strict) throw new Error(message, { cause: error })
    host.logger.error(message, { ...idsOf(request), error: stackText(error) })
  }
}

/** Throws for a status that no response can have, before anything is written. */
function checkStatus({ status }: HookResponse): void {
  if (status === undefined) return
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new TypeError(
      `a validate hook set res.status to ${String(status)}; it must be from 200 to 599`,
    )
  }
}

/** `response` with what a hook has set on `res`. */
export function withHookResponse(response: Response, res: HookResponse): Response {
  const { headers } = response
  for (const name of res.headers.keys()) headers.delete(name)
  for (const [name, value] of res.headers) headers.append(name, value)
  if (res.status === undefined || res.status === response.status) return response
  const body = WITHOUT_BODY.includes(res.status) ? null : response.body
  return new Response(body, { status: res.status, headers })
}
