/**
 * `mcp`: tools with which agents read and write records, as the one who calls.
 *
 * @module
 */

import { HttpError } from '../http/errors.ts'
import type { ApiRequest } from '../http/request.ts'
import { jsonResponse } from '../http/respond.ts'
import { checkOptions, type Rule } from '../model/option-rules.ts'
import { didYouMean } from '../model/suggest.ts'
import { isFields } from '../model/writable.ts'
import type { Fields } from '../ports/store.ts'
import type { Mountable } from '../records/engine/host.ts'
import type { Context, Handler } from '../records/engine/route.ts'
import { callTool, type Outcome } from './call.ts'
import type { Caller } from './models.ts'
import {
  type Answer,
  type Call,
  converse,
  EARLIER,
  invalidParams,
  META,
  REVISION,
  RpcError,
} from './protocol.ts'
import { type AgentWrite, type Tool, toolsFor } from './tools.ts'

/** Options of `mcp`. */
export interface McpOptions {
  /** What agents may do beyond reading, as far as the caller may. Default: nothing. */
  readonly write?: readonly AgentWrite[]
  /** What to tell agents of the app, such as what its records are about. */
  readonly instructions?: string
}

const WRITES: readonly AgentWrite[] = ['create', 'update', 'remove']
const RULES: Readonly<Record<keyof McpOptions, Rule>> = {
  write: { must: 'be a list', test: Array.isArray },
  instructions: { must: 'be a string', test: (value) => typeof value === 'string' },
}

/**
 * Tools for agents, by the Model Context Protocol: `POST <mount>`. Agents find the models of the app's routers, read their
 * records, and write what `write` names. Each call is a request to the app from the one who calls, with their
 * `Authorization`, so that guards, `access`, `scope`, `fieldsFor` and limits hold. Throws a `TypeError` if an option makes
 * no sense.
 *
 * ```ts
 * app.mount('/mcp', mcp({ write: ['create', 'update'] }))
 * ```
 */
export function mcp(options: McpOptions = {}): Mountable {
  const fail = (message: string): never => {
    throw new TypeError(`mcp: ${message}`)
  }
  checkOptions(options, RULES, fail)
  const { write = [], instructions } = options
  const unknown = write.find((one) => !WRITES.includes(one))
  if (unknown !== undefined) {
    fail(
      `'write' names '${unknown}'. There are: create, update, remove.${didYouMean(unknown, WRITES)}`,
    )
  }
  const tools = toolsFor(write)
  return {
    attach(host) {
      const handler: Handler = (request, context) => {
        if (!isOwn(request, context)) throw foreignOrigin()
        const caller = { host, request, context, write }
        return converse(request, host, (call) => answer(call, { tools, instructions, caller }))
      }
      return [
        {
          ...{ method: 'POST', path: '', guards: [], handler, runsLate: true },
          about: { summary: 'Tools for agents (Model Context Protocol)' },
        },
      ]
    },
    wellKnown(mount) {
      const handler: Handler = ({ url }, { basePath }) =>
        jsonResponse(
          JSON.stringify({
            resource: `${new URL(url).origin}${basePath}${mount}`,
            bearer_methods_supported: ['header'],
          }),
        )
      const about = { summary: 'Where the tools for agents are (RFC 9728)' }
      const route = { method: 'GET', guards: [], handler, about }
      return [
        { ...route, path: METADATA },
        { ...route, path: `${METADATA}${mount === '/' ? '' : mount}` },
      ].slice(0, mount === '/' ? 1 : 2)
    },
  }
}

/** Where clients find out how to sign in (RFC 9728). */
const METADATA = '/.well-known/oauth-protected-resource'

interface Server {
  readonly tools: readonly Tool[]
  readonly instructions: string | undefined
  readonly caller: Caller
}

const foreignOrigin = (): HttpError =>
  new HttpError(403, 'Pages of this origin may not call the tools.')

const LOCAL = ['localhost', '127.0.0.1', '[::1]']

/**
 * Whether a request comes from no page, or from one that may call the app. A page whose name was made to lead here
 * (DNS rebinding) names itself as the host too, but has no certificate for it.
 */
function isOwn({ headers, url }: ApiRequest, context: Context): boolean {
  const origin = headers.get('origin')
  if (origin === null || context.headers.get('access-control-allow-origin') === origin) return true
  if (!URL.canParse(origin)) return false
  const { protocol, host, hostname } = new URL(origin)
  if (LOCAL.includes(hostname)) return true
  return protocol === 'https:' && host === (headers.get('host') ?? new URL(url).host)
}

const INFO = { name: 'fieldgate', version: '1.0.0' }
/** Clients may keep what only a new version of the app changes, for themselves. */
const KEPT = { ttlMs: 300_000, cacheScope: 'private' }

async function answer({ method, params, isAlone }: Call, server: Server): Promise<Answer> {
  const whole = (result: object): object =>
    isAlone ? { resultType: 'complete', ...result, _meta: { [`${META}serverInfo`]: INFO } } : result
  const { tools, instructions } = server
  const about = { capabilities: { tools: {} }, ...(instructions !== undefined && { instructions }) }
  switch (`${isAlone ? '' : 'earlier '}${method}`) {
    case 'server/discover':
      return { result: whole({ supportedVersions: [REVISION, ...EARLIER], ...about, ...KEPT }) }
    case 'earlier initialize': {
      const { protocolVersion: asked } = params
      const protocolVersion = EARLIER.find((one) => one === asked) ?? EARLIER[0]
      return { result: { protocolVersion, ...about, serverInfo: INFO } }
    }
    case 'earlier ping':
      return { result: {} }
    case 'tools/list':
      return { result: whole({ tools, ...KEPT }) }
    case 'earlier tools/list':
      return { result: { tools } }
    case 'tools/call':
    case 'earlier tools/call': {
      const { status, ...result } = await call(server, params, isAlone)
      return { result: whole(result), ...(status === 401 && unauthorized(server.caller)) }
    }
    default:
      throw new RpcError(-32601, 'Method not found.', isAlone ? 404 : 200)
  }
}

async function call({ tools, caller }: Server, params: Fields, isAlone: boolean): Promise<Outcome> {
  const { name, arguments: given = {} } = params
  const tool = tools.find((one) => one.name === name)
  if (!tool) throw invalidParams(`There is no such tool.${toolsLike(tools, name)}`, isAlone)
  if (!isFields(given)) throw invalidParams("'arguments' must be an object.", isAlone)
  try {
    return await callTool(caller, tool, given)
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    const { status, message, fields } = error
    const { requestId } = caller.request
    const envelope = { success: false, error: message, ...(fields && { fields }), requestId }
    const content = [{ type: 'text' as const, text: JSON.stringify(envelope) }]
    return { content, structuredContent: envelope, isError: true, status }
  }
}

function toolsLike(tools: readonly Tool[], name: unknown): string {
  const names = tools.map((one) => one.name)
  return `${didYouMean(String(name), names)} There are: ${names.join(', ')}.`
}

/** The status and header by which a client learns that it has to sign in. */
function unauthorized({ request: { url }, context: { basePath } }: Caller): Omit<Answer, 'result'> {
  const metadata = `${new URL(url).origin}${basePath}${METADATA}`
  return { status: 401, headers: { 'WWW-Authenticate': `Bearer resource_metadata="${metadata}"` } }
}
