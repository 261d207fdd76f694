import { routedPath } from '../app/route-table.ts'
import { HttpError } from '../http/errors/errors.ts'
import { isLoopback } from '../http/host.ts'
import type { ApiRequest } from '../http/request/request.ts'
import { headerOf, jsonResponse, setHeader } from '../http/response/respond.ts'
import { checkOptions, type Rule, text } from '../model/option-rules.ts'
import type { Mountable } from '../records/engine/host.ts'
import type { Context, Handler } from '../records/engine/route.ts'
import { callTool } from './call.ts'
import { converse, FAILURES } from './protocol.ts'
import { type AgentWrite, toolsFor, WRITES } from './tools.ts'

/** Options of `mcp`. */
export interface McpOptions {
  /** What agents may do beyond reading, as far as the caller may. Default: nothing. */
  readonly write?: readonly AgentWrite[]
  /** What to tell agents of the app, such as what its records are about. */
  readonly instructions?: string
}

const RULES: Readonly<Record<keyof McpOptions, Rule>> = {
  write: {
    must: `be a list of ${WRITES}`,
    test: (value) => Array.isArray(value) && value.every((one) => WRITES.includes(one)),
  },
  instructions: text,
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
  checkOptions(options, RULES, 'mcp')
  const { write = [], instructions } = options
  const tools = toolsFor(write)
  const agents = ['list', 'read', ...write]
  return {
    attach(host, mount) {
      const handler: Handler = (request, context) => {
        if (!isOwn(request, context)) throw new HttpError(403, 'This origin may not call tools.')
        return converse(request, host, { tools, instructions }, (params) =>
          callTool({ host, request, context, agents, tools }, params),
        )
      }
      // Each 401 says where clients find out how to sign in, whoever refuses.
      host.early.push((request, context) => {
        if (routedPath(request).replace(/\/$/, '') !== mount) return
        context.onResponse((response) => {
          const scheme = headerOf(response, 'WWW-Authenticate') ?? ''
          if (response.status !== 401 || !/^(Bearer|$)/.test(scheme)) return
          const challenge = `Bearer resource_metadata="${placeOf(request, context, METADATA + mount)}"`
          setHeader(response, 'WWW-Authenticate', challenge)
        })
      })
      const route = { method: 'POST', path: '', guards: [], handler, runsLate: true }
      const failures = { ...FAILURES, limits: host }
      return [{ ...route, about: { summary: 'Tools for agents' }, failures, agents }]
    },
    wellKnown: (mount, before) =>
      [METADATA, METADATA + before + mount].map((path) => ({
        // Of tools in several places, the first answer for the host itself.
        ...{ method: 'GET', path, guards: [], mayPass: true },
        handler: (request, context) =>
          jsonResponse(JSON.stringify({ resource: placeOf(request, context, mount) })),
      })),
  }
}

/** Where clients find out how to sign in (RFC 9728). */
const METADATA = '/.well-known/oauth-protected-resource'

/** Under HTTPS if a proxy that ends it says so: clients compare it with the place that they know. */
function placeOf({ url, headers }: ApiRequest, { basePath }: Context, path: string): string {
  const place = new URL(basePath + path, url)
  // What is no scheme changes nothing.
  place.protocol = headers.get('x-forwarded-proto')?.split(',')[0] ?? ''
  return place.href
}

/**
 * Whether a request comes from no page, or from one that may call the app. A page whose name was made to lead here
 * (DNS rebinding) names itself as the host too, but has no certificate for it.
 */
function isOwn({ headers, url }: ApiRequest, context: Context): boolean {
  const origin = headers.get('origin') ?? ''
  const own = `https://${headers.get('host') ?? new URL(url).host}`
  const allowed = ['', own, context.headers.get('access-control-allow-origin')]
  return allowed.includes(origin) || isLoopback(origin)
}
