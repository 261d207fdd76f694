/** Calls of tools: each becomes a request to the app, from the one who calls. */

import { isJson } from '../http/body.ts'
import { errorHandler } from '../http/error-handler.ts'
import { badRequest } from '../http/errors.ts'
import type { PartInit } from '../http/part-request.ts'
import { invalidId } from '../http/refusals.ts'
import { didYouMean } from '../model/suggest.ts'
import { echoed } from '../ports/messages.ts'
import type { Fields } from '../ports/records.ts'
import { type Served, servedIn } from '../records/setup/serving.ts'
import { type Caller, described, listedFor, requestFor } from './models.ts'
import { type Answer, INVALID_PARAMS, refusal } from './protocol.ts'
import { checkArguments, MOST_RECORDS, noSuch, type Tool } from './tools.ts'

/** The most characters of a result. */
const MOST_CHARACTERS = 20_000

const MORE = 'There is more: send nextCursor as cursor, or the next page with the same pageSize.'

/** What a tool says. */
interface Reply {
  readonly body: Fields
  /** What the agent may do next. */
  readonly note?: string | null | undefined
  readonly status: number
}

/** Calls the tool that `params` name. */
export async function callTool(caller: Caller, params: Fields): Promise<Answer> {
  const { request, context, tools } = caller
  const tool = tools.find(({ name }) => name === params.name)
  if (!tool) {
    const names = tools.map(({ name }) => name)
    throw refusal(INVALID_PARAMS, noSuch('tool', params.name, names).with(echoed))
  }
  let { body, note, status } = await replyOf(caller, tool, Object(params.arguments)).catch(
    async (error) => read(await errorHandler()(error, request, context)),
  )
  if (isLong(body)) {
    body = { data: { _id: Object(body.data)._id } }
    note = 'Too long: select fields in query_records.'
  }
  const content = [JSON.stringify(body), note].flatMap((text) =>
    text ? { type: 'text', text } : [],
  )
  const result = { content, structuredContent: body, isError: status >= 400 || undefined }
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
  if (name === 'list_models') {
    // With many models there is no room for words.
    if (isLong(listed)) for (const one of listed) one.description = undefined
    return { body: { data: listed }, status: 200 }
  }
  const seen = listed.find(({ model }) => model === given.model)
  if (!served || !seen) {
    const names = listed.map(({ model }) => model)
    throw badRequest('bad-request', noSuch('model', given.model, names))
  }
  return { body: { data: { ...seen, ...described(served) } }, status: 200 }
}

function isLong(value: unknown): boolean {
  return JSON.stringify(value).length > MOST_CHARACTERS
}

/** Asks for at most 50 records, and for fewer until they fit. */
async function query(
  caller: Caller,
  served: Served,
  { model: _, limit, page, pageSize, ...rest }: Fields,
): Promise<Reply> {
  const { maxLimit } = served.resource
  const key = (rest.aggregate ?? rest.by) ? 'limit' : 'pageSize'
  const most = Math.min(MOST_RECORDS, maxLimit)
  let size = (limit ?? pageSize ?? most) as number
  // What is no number stays, for the route to refuse.
  if (size > most) size = most
  let at = page as number
  for (;;) {
    const body = { ...rest, [key]: size, page: at }
    const reply = await send(caller, served, 'list', { body })
    if (!isLong(reply.body) || size < 2) return reply
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
  const actions: Fields = { read_record: 'read', write_record: written, remove_record: 'remove' }
  const action = actions[name] as string
  if (!caller.agents.includes(action))
    throw badRequest('bad-request', `Agents may not ${action} here.`)
  // As a part of a path these lead elsewhere.
  if (/^\.{0,2}$/.test(id as string)) throw invalidId()
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
  const { host, context } = caller
  const part = requestFor(caller, served.mount, action, id, more)
  const reply = await read(await host.handle(part, context.env, context))
  if (reply.status !== 400) return reply
  const { fields, query, ...all } = described(served)
  const takes = action === 'list' ? query : all[action]
  const [, name = ''] = String(reply.body.error).split("'")
  const names = [...Object.values(Object(takes)).flat(), ...Object.keys(fields as object)]
  const note = `It takes ${JSON.stringify(takes)}.${didYouMean(name, names as string[])}`
  return { ...reply, note: takes ? note : reply.note }
}

/** What a response says, and how to go on. */
async function read(response: Response): Promise<Reply> {
  const { status, headers } = response
  const json = isJson(headers.get('content-type'))
    ? await response.json()
    : { success: false, error: await response.text() }
  const { success, ...body } = json
  const { hasMore, currentPage, totalPages } = body.pagination ?? {}
  const header = status < 400 ? 'etag' : 'retry-after'
  const value = body.pagination ? null : headers.get(header)
  const note = hasMore || currentPage < totalPages ? MORE : value && `${header}: ${value}`
  return { status, body: status < 400 ? body : json, note }
}
