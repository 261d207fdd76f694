/** Extra routes: what they are described to take is checked before the handler, what they return after it. */

import type { $ZodType } from 'zod/v4/core'
import { type BodyLimits, isJson, readJson } from '../../http/body/body.ts'
import { invalidFields } from '../../http/errors/refusals.ts'
import type { ApiRequest, Query } from '../../http/request/request.ts'
import { setBody, setQuery } from '../../http/request/shield.ts'
import { isResponse, valueResponse } from '../../http/response/respond.ts'
import { checkOptions, type Fail, failAs, type Rule, text } from '../../model/option-rules.ts'
import { objectShape } from '../../model/shape/shape.ts'
import { valueParser } from '../../model/shape/validate.ts'
import { whatThereIs } from '../../model/suggest.ts'
import { mayBeLeftOut } from '../../model/values/null.ts'
import { messagesOf } from '../../ports/services/messages.ts'
import type { Route, RouteDescription } from '../engine/route.ts'

const schema = { must: 'be a zod schema', test: (value: unknown) => typeOf(value) !== undefined }
const fields = { must: 'be a zod object', test: (value: unknown) => typeOf(value) === 'object' }
const RULES: Readonly<Record<keyof RouteDescription, Rule>> = {
  summary: text,
  ...{ params: fields, query: fields, body: schema, response: schema },
}
const WITHOUT_BODY = ['GET', 'HEAD', 'OPTIONS']

function typeOf(value: unknown): string | undefined {
  return (value as Partial<$ZodType> | null)?._zod?.def.type
}

/** Throws a `TypeError` for a description that makes no sense. */
export function checkDescription(method: string, path: string, about: RouteDescription): void {
  const fail: Fail = failAs(`the extra route '${method} ${path}'`)
  checkOptions(about, RULES, fail)
  if (about.body && WITHOUT_BODY.includes(method)) {
    fail(`a ${method} request has no 'body'. Describe its 'query'`)
  }
}

/** `route` at `mount`, with its parameters and body checked, and its result a Response. Throws for unknown parameters. */
export function served(route: Route, mount: string, limits: BodyLimits): Route {
  const { about = {}, handler } = route
  const readers = readersOf(about, `${mount}${route.path}`, limits)
  const check = about.response ? responseCheck(about.response) : async (value: unknown) => value
  return {
    ...route,
    async handler(request, context) {
      for (const read of readers) await read(request)
      const made = await handler(request, context)
      // Functions, and responses of other libraries, are refused where responses are sent.
      const isValue = !isResponse(made) && !['undefined', 'function'].includes(typeof made)
      if (isValue) return valueResponse(await check(made))
      if (about.response && isResponse(made) && made.ok) {
        if (isJson(made.headers.get('content-type'))) await check(await made.clone().json())
      }
      return made
    },
  }
}

function responseCheck(schema: $ZodType): (value: unknown) => Promise<unknown> {
  const parse = valueParser(schema)
  return async (value) => {
    const result = await parse(value)
    if (result.success) return result.data
    const messages = JSON.stringify(messagesOf(result.issues))
    throw new TypeError(`the response does not fit its description: ${messages}`)
  }
}

type Reader = (request: ApiRequest) => Promise<void>

function readersOf(about: RouteDescription, pattern: string, limits: BodyLimits): Reader[] {
  const readers: Reader[] = []
  const { params, query, body } = about
  if (params) {
    const names = [...pattern.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
    const lost = Object.keys(params._zod.def.shape).find((name) => !names.includes(name))
    if (lost !== undefined) {
      throw new TypeError(
        `the extra route '${pattern}' has no parameter '${lost}', which 'params' describes.${whatThereIs(lost, names)}`,
      )
    }
    const parse = parserOf(params, 'params')
    readers.push(async (request) => {
      request.params = (await parse(request.params)) as ApiRequest['params']
    })
  }
  if (query) {
    const parse = parserOf(query, 'query')
    const { fields } = objectShape(query._zod.def.shape, 'input')
    // A parameter of a list that is sent once is a list of one.
    const listed = ([name, value]: [string, unknown]) =>
      fields.get(name)?.kind === 'list' ? [name, [value].flat()] : [name, value]
    readers.push(async (request) => {
      const given = Object.fromEntries(Object.entries(request.query).map(listed))
      setQuery(request, (await parse(given)) as Query)
    })
  }
  if (body) {
    const parse = parserOf(body, 'body')
    // Where a body is required, none is an empty one, so that the refusal names the fields that it lacks.
    const none = mayBeLeftOut(body) ? undefined : {}
    readers.push(async (request) => {
      const sent = await readJson(request, limits)
      setBody(request, await parse(sent === undefined ? none : sent))
    })
  }
  return readers
}

function parserOf(schema: $ZodType, name: string): (given: unknown) => Promise<unknown> {
  const parse = valueParser(schema)
  return async (given) => {
    const result = await parse(given)
    if (result.success) return result.data
    const { '': whole, ...fields } = messagesOf(result.issues)
    throw invalidFields(whole === undefined ? fields : { ...fields, [name]: whole })
  }
}
