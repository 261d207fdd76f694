/** The models that agents see, and what a caller may do with each. */

import { type $ZodType, type $ZodTypes, globalRegistry } from 'zod/v4/core'
import { firstResponse } from '../app/guards.ts'
import type { HttpError } from '../http/errors/errors.ts'
import { type PartInit, partRequest } from '../http/request/part-request.ts'
import type { ApiRequest } from '../http/request/request.ts'
import { isHidden, type Model } from '../model/model.ts'
import { partsIn } from '../model/parts.ts'
import { referenceOf } from '../model/shape/reference.ts'
import type { Fields } from '../ports/store/records.ts'
import { OPERATORS } from '../records/engine/conditions.ts'
import { descriptionsOf, isDescribed } from '../records/engine/guards.ts'
import type { Host } from '../records/engine/host.ts'
import { type Context, type Guard, patternOf, type Route } from '../records/engine/route.ts'
import { rulesFor } from '../records/list/parse.ts'
import { isReadable, type ReadableFields, readableFields } from '../records/rules/fields-for.ts'
import { AGENT_ROUTES, queryFields, type Served } from '../records/setup/serving.ts'
import type { Tool } from './tools.ts'

/** The one whose request is asked about. */
export interface Caller {
  readonly host: Host
  readonly request: ApiRequest
  readonly context: Context
  /** What agents may do. */
  readonly agents: readonly string[]
  readonly tools: readonly Tool[]
}

/** A model, as `list_models` tells of it. */
export interface Listed {
  readonly model: string
  description: string | undefined
  readonly actions: readonly string[]
}

/**
 * The models that a caller may do anything with, as far as the routes, `write` and the caller's guards leave it. Throws the 401 of
 * a token that no guard takes, which is one to replace, whatever the tool. One that others take is good, but not there.
 */
export async function listedFor(caller: Caller, all: Iterable<Served>): Promise<Listed[]> {
  /** False for good once a guard has taken the token. */
  let refusal: unknown
  const listed: Listed[] = []
  for (const { mount, resource, routes } of all) {
    const actions: string[] = []
    for (const action of caller.agents) {
      const asked = requestFor(caller, mount, action)
      const found = await mayUse(caller, routes[AGENT_ROUTES[action] as string], asked)
      if (found === true) actions.push(action)
      else refusal ??= found
      if (asked.auth) refusal = false
    }
    if (actions.length > 0)
      listed.push({ model: mount, description: descriptionOf(resource.model.schema), actions })
  }
  if (refusal) throw refusal
  return listed
}

/** The request by which the caller does `action` with the records at `mount`, or with the one whose id is `id`. */
export function requestFor(
  { request, context: { signal } }: Caller,
  mount: string,
  action: string,
  id: unknown = 0,
  more?: Partial<PartInit>,
): ApiRequest {
  const [method, path] = (AGENT_ROUTES[action] as string).split(' ') as [string, string]
  const route = patternOf(mount, { path })
  return partRequest(request, { method, route, id, signal, ...more })
}

/** Whether the guards of a route that say whom they let through would let the caller through; the 401 if one does not take the token. */
async function mayUse(
  { host, request, context }: Caller,
  route: Route | undefined,
  asked: ApiRequest,
): Promise<unknown> {
  if (!route) return undefined
  const guards = [...host.guards, ...route.guards]
  if (request.auth) asked.auth = request.auth
  try {
    for (const guard of guards) if (await refuses(guard, guards, asked, context)) return undefined
    return true
  } catch (error) {
    const { status } = error as HttpError
    if (status >= 500) throw error
    if (status === 401) return request.headers.get('authorization') && error
    // They know the caller, who may not do this.
    asked.auth = {} as never
    return undefined
  }
}

async function refuses(guard: Guard, all: readonly Guard[], asked: ApiRequest, context: Context) {
  const [{ token, apiKey, roles, methods } = {}] = descriptionsOf([guard])
  if (methods?.includes(asked.method) === false) return true
  // A guard of your own may find out the caller whose role another one demands.
  const isJudged = asked.auth || !roles || all.every(isDescribed)
  // Others may count requests, so they run for real ones alone.
  return (token ?? apiKey) && isJudged && firstResponse([guard], asked, context)
}

export function descriptionOf(schema: $ZodType): string | undefined {
  return globalRegistry.get(schema)?.description
}

/** What routes take of a model for `actions`, and its fields, as far as `request` may see them. Undefined is not sent. */
export async function described(
  { resource }: Served,
  actions: readonly string[],
  request?: ApiRequest,
): Promise<Fields> {
  const names: Readonly<Record<string, Iterable<string>>> = resource.writable
  return {
    ...(request && {
      fields: fieldsOf(resource.model, await readableFields(resource, request)),
      query: { ...queryFields(await rulesFor(resource, request)), operators: OPERATORS },
    }),
    // Names to write by may be those of fields that are not seen.
    ...Object.fromEntries(actions.map((one) => [one, names[one] && [...names[one]]])),
  }
}

/** The paths that are shown: the types on each, its limits, and what is said of it. */
function fieldsOf(model: Model, seen: ReadableFields): Fields {
  const fields: Record<string, Record<string, unknown>> = {}
  for (const [name, whole] of Object.entries(model.fields)) {
    for (const { schema, path } of partsIn(whole, name).parts) {
      if (!isHidden(model, path) && isReadable(seen, path))
        fields[path] = withPart(fields[path], schema)
    }
  }
  return fields
}

/** What is known of a field, and what one of its schemas adds: `optional` wraps a string, a string is in an array. */
function withPart(more: Record<string, unknown> = {}, schema: $ZodType): Record<string, unknown> {
  const { def, values } = (schema as $ZodTypes)._zod
  const settings: unknown[] = [def, ...(def.checks ?? []).map(({ _zod }) => _zod.def)]
  for (const { check = '', inclusive, maximum, minimum, value, format } of settings as Fields[]) {
    // `gte` and the like, as in filters; `max_length`, `string_format`.
    const limit = String(check).replace(/^(.).*_than$/, inclusive ? '$1te' : '$1t')
    more[limit] = maximum ?? minimum ?? value ?? format
  }
  more.type = more.type ? `${more.type} ${def.type}` : def.type
  more.ref ??= referenceOf(schema)
  // Variants tell themselves apart by values of one member; undefined is what `optional` adds.
  const all = new Set([...((more.enum ?? []) as unknown[]), ...(values ?? [])])
  all.delete(undefined)
  if (all.size > 0) more.enum = [...all]
  more.description ??= descriptionOf(schema)
  return more
}
