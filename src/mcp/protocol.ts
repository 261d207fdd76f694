/**
 * JSON-RPC over Streamable HTTP: each POST is one request, and nothing is kept between two. Clients of 2026-07-28 say with
 * each request who they are; those before it say so once, by `initialize`.
 */

import { type BodyLimits, readJson } from '../http/body/body.ts'
import { HttpError } from '../http/errors/errors.ts'
import { jsonResponse } from '../http/response/respond.ts'
import type { Fields } from '../ports/store/records.ts'
import type { OwnFailures } from '../records/engine/route.ts'

/** The revision in which each request stands alone. */
const REVISION = '2026-07-28'
/** The revisions that begin with `initialize`, the newest first. */
const EARLIER: readonly unknown[] = ['2025-11-25', '2025-06-18']
const VERSIONS = [REVISION, ...EARLIER]
const VERSION = 'MCP-Protocol-Version'
/** What names the members of `_meta`. */
const META = 'io.modelcontextprotocol/'
const INFO = { name: 'fieldgate', version: '1.0' }

/** The result of a call, and the status of what the app responded. */
export interface Answer {
  readonly result: object
  readonly status?: number
}

interface About {
  readonly tools: readonly object[]
  readonly instructions: string | undefined
}

/** What refuses a call; without a code, its body cannot be read. */
type Refusal = HttpError & { readonly rpc?: number; readonly data?: object | undefined }

/** Refuses a call with a code of JSON-RPC. */
export function refusal(rpc: number, message: string, data?: object): HttpError {
  return Object.assign(new HttpError(rpc === NO_METHOD ? 404 : 400, message), { rpc, data })
}

const NO_METHOD = -32601
/** The code of parameters that make no sense. */
export const INVALID_PARAMS = -32602

const notOne = () => refusal(-32600, 'Send one JSON-RPC 2.0 request.')
const noMethod = () => refusal(NO_METHOD, 'Method not found.')

/** What JSON-RPC 2.0 has for a failure, and what a request may be refused for before its tool is known, for descriptions. */
export const FAILURES: Omit<OwnFailures, 'limits'> = {
  name: 'RpcFailure',
  schema: { type: 'object', required: ['jsonrpc', 'id', 'error'] },
  refusals: () => [notOne(), noMethod()],
}

/** Responds to the call in `request`; `about` is what clients are told of the server. */
export async function converse(
  request: Request,
  limits: BodyLimits,
  about: About,
  callTool: (params: Fields) => Promise<Answer>,
): Promise<Response> {
  let id: unknown = null
  // Clients before 2026-07-28 expect every answer with a 200.
  let isAlone = true
  const sent = (body: object, status: number) =>
    jsonResponse(JSON.stringify({ jsonrpc: '2.0', id, ...body }), { status })
  try {
    const { jsonrpc, id: given, method, params } = Object(await readJson(request, limits))
    // Only strings have `trim`.
    if (jsonrpc !== '2.0' || !method?.trim || !/^[usn]/.test(typeof given)) throw notOne()
    if (given === undefined) return new Response(null, { status: 202 })
    id = given
    const asked = Object(params)
    isAlone = standsAlone(request.headers, method, asked)
    const { result, status } =
      method === 'tools/call' ? await callTool(asked) : told(method, asked, isAlone, about)
    const _meta = { [`${META}serverInfo`]: INFO }
    return sent(
      { result: isAlone ? { resultType: 'complete', ...result, _meta } : result },
      status === 401 ? status : 200,
    )
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    const { message, status, rpc = -32700, data } = error as Refusal
    return sent({ error: { code: rpc, message, data } }, isAlone ? status : 200)
  }
}

function told(
  method: string,
  { protocolVersion: asked }: Fields,
  isAlone: boolean,
  { tools, instructions }: About,
): Answer {
  // Clients may keep for themselves what only a new version of the app changes.
  const kept = { ttlMs: 300_000, cacheScope: 'private' }
  const about = { capabilities: { tools: {} }, instructions, ...kept }
  const protocolVersion = EARLIER.includes(asked) ? asked : EARLIER[0]
  const results: Readonly<Record<string, object | null>> = {
    __proto__: null,
    'tools/list': { tools, ...kept },
    ...(isAlone
      ? { 'server/discover': { supportedVersions: VERSIONS, ...about } }
      : { ping: {}, initialize: { protocolVersion, serverInfo: INFO, ...about } }),
  }
  const result = results[method]
  if (result) return { result }
  throw noMethod()
}

/** Whether a request is of the newest revision. Throws if it names another one, or if its headers say other things. */
function standsAlone(headers: Headers, method: string, { name, _meta }: Fields): boolean {
  const check = (header: string, value: unknown) => {
    const said = headers.get(header)
    const text = value as string
    // What is not ASCII names neither a method nor a tool.
    if (said !== text && !(/^[\w/]+$/.test(text) && said === `=?base64?${btoa(text)}?=`)) {
      throw refusal(-32020, `${header} differs from the body.`)
    }
  }
  const version = headers.get(VERSION)
  const meta = Object(_meta)
  const named = meta[`${META}protocolVersion`]
  const isEarlier = version === null ? method !== 'server/discover' : EARLIER.includes(version)
  if (named !== undefined) check(VERSION, named)
  if (isEarlier || (!named && method === 'initialize')) return false
  if ((version ?? REVISION) !== REVISION) {
    const data = { supported: VERSIONS, requested: version }
    throw refusal(-32022, 'Unknown version.', data)
  }
  if (!named || !meta[`${META}clientCapabilities`]) {
    throw refusal(INVALID_PARAMS, '_meta lacks protocolVersion or clientCapabilities.')
  }
  check('Mcp-Method', method)
  if (method === 'tools/call') check('Mcp-Name', name)
  return true
}
