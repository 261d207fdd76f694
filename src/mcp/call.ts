/**
 * Calls of tools: each becomes a request to the app, from the one who calls.
 *
 * @module
 */

import { isJson } from '../http/body.ts'
import { shareAuth } from '../http/given-auth.ts'
import { invalidId } from '../http/refusals.ts'
import type { ApiRequest } from '../http/request.ts'
import { didYouMean, whatThereIs } from '../model/suggest.ts'
import { isFields } from '../model/writable.ts'
import type { Fields } from '../ports/store.ts'
import { asked, described, descriptionOf, namesFor } from './describe.ts'
import { actionsOf, type Caller, type Served, servedIn } from './models.ts'
import { bounded, fewer, inUrl, moreAfter } from './query.ts'
import { MOST_CHARACTERS, type Tool } from './tools.ts'

/** The result of a tool. */
export interface Outcome {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent: Fields
  readonly isError?: true
  /** The status of what the app responded, if it refused. */
  readonly status?: number
}

/** What an app has responded. */
interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Fields
}

/** Calls `tool` with `given`. */
export async function callTool(caller: Caller, tool: Tool, given: Fields): Promise<Outcome> {
  const wrong = wrongIn(tool, given)
  if (wrong !== undefined) return refused(caller, wrong)
  const all = servedIn(caller.host)
  if (tool.name === 'list_models') return listModels(caller, all)
  const served = all.get(given.model as string)
  const actions = served ? await actionsOf(caller, served) : []
  if (!served || (tool.name === 'describe_model' && actions.length === 0)) {
    const visible = await namesOf(caller, all)
    const there = whatThereIs(given.model as string, visible)
    return refused(caller, `There is no model '${String(given.model).slice(0, 64)}'.${there}`)
  }
  switch (tool.name) {
    case 'describe_model':
      return done({ data: described(served, actions) })
    case 'query_records':
      return query(caller, served, given)
    case 'read_record':
      return one(caller, served, given, 'GET')
    case 'write_record':
      return write(caller, served, given)
    default:
      return one(caller, served, given, 'DELETE')
  }
}

/** What is wrong with the arguments, in the words of the tool's schema. */
function wrongIn(
  { inputSchema: { properties, required } }: Tool,
  given: Fields,
): string | undefined {
  const names = Object.keys(properties)
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(properties, name)) {
      return `There is no argument '${name.slice(0, 64)}'.${whatThereIs(name, names)}`
    }
    const { type } = properties[name] ?? {}
    if (type === 'string' && typeof value !== 'string') return `'${name}' must be a string.`
    if (type === 'object' && !isFields(value)) return `'${name}' must be an object.`
  }
  const lacking = required.find((name) => given[name] === undefined)
  return lacking === undefined ? undefined : `'${lacking}' is required.`
}

async function namesOf(caller: Caller, all: ReadonlyMap<string, Served>): Promise<string[]> {
  const names: string[] = []
  for (const [name, served] of all) {
    if ((await actionsOf(caller, served)).length > 0) names.push(name)
  }
  return names
}

async function listModels(caller: Caller, all: ReadonlyMap<string, Served>): Promise<Outcome> {
  const data: Fields[] = []
  for (const [model, served] of all) {
    const actions = await actionsOf(caller, served)
    const about = { model, ...descriptionOf(served.resource.model.schema), actions }
    if (actions.length > 0) data.push(about)
  }
  const isShort = JSON.stringify(data).length <= MOST_CHARACTERS
  return done({ data: isShort ? data : data.map(({ description: _, ...rest }) => rest) })
}

async function query(caller: Caller, served: Served, given: Fields): Promise<Outcome> {
  const { model: _, ...rest } = given
  for (let body: Fields | undefined = bounded(served, rest); body; ) {
    const reply = served.routes.has('query')
      ? await send(caller, 'QUERY', served.mount, { body })
      : await send(caller, 'GET', `${served.mount}${inUrl(body)}`)
    if (reply.status >= 400) return failed(caller, reply, served)
    const { success: __, ...shown } = reply.body
    const { length } = JSON.stringify(shown)
    if (length <= MOST_CHARACTERS) return done(shown, moreAfter(shown))
    body = fewer(body, length)
  }
  return refused(
    caller,
    `A record has more than ${MOST_CHARACTERS} characters. Name fewer fields in 'select'.`,
  )
}

async function write(caller: Caller, served: Served, given: Fields): Promise<Outcome> {
  const action = given.id === undefined ? 'create' : 'update'
  if (!caller.write.includes(action)) {
    return refused(caller, `Agents may not ${action} records here.`)
  }
  if (action === 'update') return one(caller, served, given, 'PATCH')
  if (given.ifMatch !== undefined) return refused(caller, `'ifMatch' needs an 'id'.`)
  const reply = await send(caller, 'POST', served.mount, { body: given.values })
  return shown(caller, served, reply, 'create')
}

/** Reads, changes or deletes the record that the arguments name. */
async function one(
  caller: Caller,
  served: Served,
  { id, ifMatch, values }: Fields,
  method: 'GET' | 'PATCH' | 'DELETE',
): Promise<Outcome> {
  // As a part of a path these lead elsewhere.
  if (['', '.', '..'].includes(id as string)) return refused(caller, invalidId().message)
  const path = `${served.mount}/${encodeURIComponent(id as string)}`
  const reply = await send(caller, method, path.replace(/^\/\//, '/'), {
    ...(method === 'PATCH' && { body: values }),
    ...(ifMatch !== undefined && { ifMatch: ifMatch as string }),
  })
  return shown(caller, served, reply, method === 'PATCH' ? 'update' : undefined)
}

/** What a reply says of one record; `write` is what was done with it. */
function shown(
  caller: Caller,
  served: Served,
  reply: Reply,
  write: 'create' | 'update' | undefined,
): Outcome {
  if (reply.status >= 400) return failed(caller, reply, served, write)
  const { success: _, ...body } = reply.body
  const etag = reply.headers.get('etag')
  const note = etag === null ? undefined : `ifMatch for this state: ${etag}`
  if (JSON.stringify(body).length <= MOST_CHARACTERS) return done(body, note)
  const long = `The record has more than ${MOST_CHARACTERS} characters. Ask query_records for some of its fields by 'select'.`
  const { _id } = body.data as Fields
  return write ? done({ data: { _id } }, long) : refused(caller, long)
}

/** Headers that belong to the call itself. */
const OWN =
  /^(?:accept|content|if|mcp|expect|transfer-encoding|origin|x-http-method-override)(?:-|$)/

/** Sends the app a request of the caller's. */
async function send(
  { host, request, context }: Caller,
  method: string,
  path: string,
  { body, ifMatch }: { readonly body?: unknown; readonly ifMatch?: string } = {},
): Promise<Reply> {
  const headers = new Headers([...request.headers].filter(([name]) => !OWN.test(name)))
  headers.set('x-request-id', request.requestId)
  if (body !== undefined) headers.set('content-type', 'application/json')
  if (ifMatch !== undefined) headers.set('if-match', ifMatch)
  const plain = new Request(new URL(request.url).origin + path, {
    ...{ method: method === 'QUERY' ? 'POST' : method, headers, signal: context.signal },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }) as ApiRequest
  // Not every runtime makes requests with this method.
  if (method === 'QUERY') Object.defineProperty(plain, 'method', { value: method })
  shareAuth(request, plain)
  const response = await host.handle(plain, context.env, context)
  const { status } = response
  const text = await response.text()
  const isEnvelope = isJson(response.headers.get('content-type')) && text !== ''
  const json: unknown = isEnvelope ? JSON.parse(text) : undefined
  const other =
    status < 400 ? { data: null } : { success: false, error: text || `Status ${status}.` }
  return { status, headers: response.headers, body: isFields(json) ? json : other }
}

function done(shown: Fields, note?: string): Outcome {
  return { content: texts(JSON.stringify(shown), note), structuredContent: shown }
}

/** What an app has refused: its envelope, and what to send instead. */
function failed(
  caller: Caller,
  reply: Reply,
  served: Served,
  write?: 'create' | 'update',
): Outcome {
  const { body, status } = reply
  const note = insteadOf(reply, served, write)
  return { ...refused(caller, String(body.error), body, note), status }
}

function refused(
  { request }: Caller,
  error: string,
  body: Fields = { success: false, error, requestId: request.requestId },
  note?: string,
): Outcome {
  return { content: texts(JSON.stringify(body), note), structuredContent: body, isError: true }
}

function texts(...all: readonly (string | undefined)[]): Outcome['content'] {
  return all.flatMap((text) => (text === undefined ? [] : [{ type: 'text' as const, text }]))
}

const INSTEAD: Readonly<Record<number, string>> = {
  401: 'Send an access token or an API key as Authorization: Bearer.',
  403: 'list_models says what you may do.',
  404: 'query_records finds the ids of records.',
  405: 'list_models says what you may do.',
  412: 'Read the record again, and send its new ETag as ifMatch.',
}

/** What to send instead of what was refused. */
function insteadOf(
  { status, body, headers }: Reply,
  served: Served,
  write: 'create' | 'update' | undefined,
): string | undefined {
  const after = headers.get('retry-after')
  if (after !== null) return `Try again after ${after} seconds.`
  if (status !== 400) return INSTEAD[status]
  const [, name = ''] = /'([^']+)'/.exec(String(body.error)) ?? []
  const meant = didYouMean(name, namesFor(served, write)).trim()
  const takes = write ? { fields: namesFor(served, write) } : asked(served)
  const all = Object.entries(takes).map(([key, names]) => `${key}: ${[names].flat().join(', ')}`)
  return [meant, `You may send ${all.join('; ')}.`, 'describe_model says more.']
    .filter(Boolean)
    .join(' ')
}
