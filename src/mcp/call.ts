/** Calls of tools: each becomes a request to the app, from the one who calls. */

import { isJson } from '../http/body/body.ts'
import { badRequest } from '../http/errors/errors.ts'
import type { PartInit } from '../http/request/part-request.ts'
import type { ApiRequest } from '../http/request/request.ts'
import { errorHandler } from '../http/response/error-handler.ts'
import { didYouMean } from '../model/suggest.ts'
import { echoed } from '../ports/services/messages.ts'
import type { Fields } from '../ports/store/records.ts'
import { asksForGroups } from '../records/list/groups.ts'
import { positiveInBody } from '../records/list/parameters.ts'
import { type Served, servedIn } from '../records/setup/serving.ts'
import { type Caller, described, type Listed, listedFor, requestFor } from './models.ts'
import { type Answer, INVALID_PARAMS, refusal } from './protocol.ts'
import { checkArguments, MOST_RECORDS, noSuch, type Tool, WRITES } from './tools.ts'

/** The most characters of a record. A result has up to 500 more, for how to go on. */
const MOST_CHARACTERS = 19_500

const MORE = 'There is more: send nextCursor as cursor, or the next page with the same pageSize.'
const MORE_GROUPS = 'There is more: filter or sort.'

interface Reply {
  readonly body: Fields
  /** What the agent may do next. */
  readonly note?: string | null | undefined
  readonly status: number
}

export async function callTool(caller: Caller, params: Fields): Promise<Answer> {
  const { request, context, tools } = caller
  const names = tools.map(({ name }) => name)
  const tool = tools[names.indexOf(params.name as string)]
  if (!tool) throw refusal(INVALID_PARAMS, noSuch('tool', params.name, names)(echoed))
  const { body, note, status } = await replyOf(caller, tool, Object(params.arguments)).catch(
    async (error) => read(await errorHandler()(error, request, context)),
  )
  const shown = textOf(body)
  const tooLong = shown !== JSON.stringify(body) && 'Too long: select in query_records.'
  const content = [shown, tooLong, note].flatMap((text) => (text ? { type: 'text', text } : []))
  const result = {
    ...{ content, structuredContent: JSON.parse(shown) },
    isError: status >= 400 || undefined,
  }
  return { result, status }
}

async function replyOf(caller: Caller, tool: Tool, given: Fields): Promise<Reply> {
  checkArguments(tool, given)
  const { name } = tool
  const all = servedIn(caller.host)
  const served = all.get(given.model)
  if (served && name === 'query_records') return query(caller, served, given)
  if (served && name !== 'describe_model') return one(caller, served, name, given)
  const listed = await listedFor(caller, all.values())
  if (name !== 'list_models') return describe(caller, served, listed, given.model)
  // With many models there is no room for words.
  if (isLong(listed)) for (const one of listed) one.description = undefined
  return { body: { data: listed }, status: 200 }
}

/** Tells of a model. Which of its fields the caller sees is known once the guards of a read have run. */
async function describe(
  caller: Caller,
  served: Served | undefined,
  listed: readonly Listed[],
  model: unknown,
): Promise<Reply> {
  const names = listed.map((one) => one.model)
  const found = listed[names.indexOf(model as string)]
  if (!served || !found) throw badRequest('bad-request', noSuch('model', model, names))
  const action = found.actions[0] as string
  const body = action === 'list' ? { pageSize: 1 } : undefined
  const asked = requestFor(caller, served.mount, action, 0, { body })
  const { fieldsFor } = served.resource
  const isSeen = !fieldsFor || !WRITES.includes(action)
  if (fieldsFor && isSeen) {
    const reply = await replyTo(caller, asked)
    // There may be no record of this id.
    if (reply.status > 400 && reply.status !== 404) return reply
  }
  const more = await described(served, found.actions, isSeen ? asked : undefined)
  return { body: { data: { ...found, ...more } }, status: 200 }
}

function isLong(value: unknown): boolean {
  return JSON.stringify(value).length > MOST_CHARACTERS
}

/** A body as JSON: of records that are too long, the id alone. */
function textOf(body: Fields): string {
  return JSON.stringify(body, (_, one) => {
    const { _id } = Object(one)
    return _id !== undefined && isLong(one) ? { _id } : one
  })
}

/** Asks for at most 50 records, or for groups, and for fewer until they fit. */
async function query(
  caller: Caller,
  served: Served,
  { model: _, limit, page, pageSize, ...rest }: Fields,
): Promise<Reply> {
  const { maxLimit } = served.resource
  // Groups have no pages, so the rest of them cannot follow.
  const [key, most] = asksForGroups(rest)
    ? ['limit', maxLimit]
    : ['pageSize', Math.min(MOST_RECORDS, maxLimit)]
  const named = limit == null ? 'pageSize' : 'limit'
  let size = Math.min(positiveInBody(named, limit ?? pageSize ?? most), most)
  let at = page as number
  for (;;) {
    const body = { ...rest, [key]: size, page: at }
    const reply = await send(caller, served, 'list', { body })
    const fits = reply.status !== 413 && textOf(reply.body).length <= MOST_CHARACTERS
    if (size < 2 || fits) return reply
    let fewer = size >> 1
    // A page of them begins with the record that this one begins with.
    while (at > 1 && size % fewer) fewer -= 1
    at = at && ((at - 1) * size) / fewer + 1
    size = fewer
  }
}

/** Reads, creates, changes or deletes one record. */
function one(
  caller: Caller,
  served: Served,
  name: string,
  { id, ifMatch, values: body }: Fields,
): Promise<Reply> {
  const written = id === undefined ? 'create' : 'update'
  // Without '_record'.
  const action = name === 'write_record' ? written : name.slice(0, -7)
  if (!caller.agents.includes(action))
    throw badRequest('bad-request', `Agents may not ${action} here.`)
  return send(caller, served, action, { body, ifMatch }, id)
}

/** What the app responds to a request of the caller's. */
async function send(
  caller: Caller,
  served: Served,
  action: string,
  more: Partial<PartInit>,
  id?: unknown,
): Promise<Reply> {
  const part = requestFor(caller, served.mount, action, id, more)
  const reply = await replyTo(caller, part)
  if (reply.status !== 400) return reply
  const { fields, query, ...all } = await described(served, [action], part)
  const { idType } = served.resource.model
  const takes = action === 'list' ? query : { id: id && idType, values: all[action] }
  const text = JSON.stringify(takes)
  const [, name = ''] = String(reply.body.error).split("'")
  // Between the quotes is what there is to name.
  const names = [...text.split('"'), ...Object.keys(fields as object)]
  return { ...reply, note: `It takes ${text}.${didYouMean(name, names)}` }
}

async function replyTo({ host, context }: Caller, request: ApiRequest): Promise<Reply> {
  return read(await host.handle(request, context.env, context))
}

/** What a response says, and how to go on. */
async function read(response: Response): Promise<Reply> {
  const { status, headers } = response
  const json = isJson(headers.get('content-type'))
    ? await response.json()
    : { success: false, error: await response.text() }
  const { success, ...body } = json
  const { hasMore, currentPage, totalPages, pageSize } = body.pagination ?? {}
  const header = status < 400 ? 'etag' : 'retry-after'
  const value = body.pagination ? null : headers.get(header)
  const more = pageSize ? MORE : MORE_GROUPS
  const note = hasMore || currentPage < totalPages ? more : value && `${header}: ${value}`
  return { status, body: status < 400 ? body : json, note }
}
