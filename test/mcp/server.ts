/**
 * Cities, their countries and favourites of signed-in users, in an app with tools for agents.
 *
 * @module
 */

import * as z from 'zod'
import { createRouter, defineModel, HttpError, type Model, ref } from '../../src/index.ts'
import { type McpOptions, mcp } from '../../src/mcp/index.ts'
import { type Service, service } from '../auth/service.ts'
import { answerOf, request } from '../records/service.ts'

export const REVISION = '2026-07-28'
const META = 'io.modelcontextprotocol/'

const Country = defineModel('McpCountry', { fields: { name: z.string() } })
const City = defineModel('McpCity', {
  fields: z
    .object({
      name: z.string().max(100),
      country: ref('McpCountry'),
      population: z.number().int().min(0),
      kind: z.enum(['port', 'inland']).optional(),
      secret: z.string().default('hush'),
      notes: z.string().optional(),
      mayor: z.object({ name: z.string(), salary: z.number().default(1) }).optional(),
    })
    .describe('Cities of the world'),
  hidden: ['secret', 'mayor.salary'],
})
/** The result of a tool. */
export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
  readonly structuredContent: any
  readonly isError?: boolean
}

/** An answer of the protocol, read to its end. */
export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
  readonly body: any
}

/** An app with tools, and short ways to call them. */
export interface Agents extends Service {
  readonly Country: typeof Country
  readonly City: typeof City
  readonly Favourite: Model
  /** Sends any request. */
  send(method: string, path: string, json?: unknown, headers?: object): Promise<Answered>
  /** Sends a request of the newest revision. */
  rpc(method: string, params?: object, headers?: object): Promise<Answered>
  /** Calls a tool; `as` is a token. */
  tool(name: string, given?: object, as?: string): Promise<ToolResult>
  /** Signs a new user up; resolves to an access token. */
  signUp(name: string): Promise<string>
}

/** An app whose agents may do what `options` say. */
export async function agents(options?: McpOptions): Promise<Agents> {
  const given = await service({ app: { secret: 'x'.repeat(32) } })
  const { app, auth, User } = given
  const Favourite = defineModel('McpFavourite', {
    fields: { city: z.string(), owner: ref(User.name) },
  })
  app.mount(
    '/countries',
    createRouter({ model: Country, middlewares: [], allowedFields: ['name'], query: ['name'] }),
  )
  app.mount(
    '/cities',
    createRouter({
      model: City,
      query: ['name', 'country', 'population'],
      search: ['name'],
      allowedFields: ['name', 'country', 'population', 'kind', 'notes', 'mayor'],
      expandable: ['country'],
      aggregates: { by: ['country'], of: ['population'] },
      pagination: 'cursor',
      middlewares: [],
      access: { update: [auth.requireAuth, auth.requireRole('admin')], remove: false },
    }),
  )
  app.mount(
    '/favourites',
    createRouter({ model: Favourite, ownedBy: 'owner', allowedFields: ['city'], query: ['city'] }),
  )
  app.mount('/people', createRouter({ model: User, allowedFields: [], middlewares: [refuseAll] }))
  app.mount('/mcp', mcp(options))
  const send: Agents['send'] = async (method, path, json, headers = {}) =>
    (await answerOf(
      await app.handle(
        request(method, path, {
          ...(json !== undefined && { json }),
          headers: headers as Record<string, string>,
        }),
      ),
    )) as Answered
  const rpc: Agents['rpc'] = (method, params = {}, headers = {}) => {
    const { name } = params as { name?: string }
    const _meta = { [`${META}protocolVersion`]: REVISION, [`${META}clientCapabilities`]: {} }
    const json = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }
    return send('POST', '/mcp', json, {
      ...{ 'mcp-protocol-version': REVISION, 'mcp-method': method },
      ...(name !== undefined && { 'mcp-name': name }),
      ...headers,
    })
  }
  return {
    ...given,
    ...{ send, rpc, Country, City, Favourite: Favourite as unknown as Model },
    async tool(name, args = {}, as) {
      const headers = as === undefined ? {} : { authorization: `Bearer ${as}` }
      const { body } = await rpc('tools/call', { name, arguments: args }, headers)
      return body.result as ToolResult
    },
    async signUp(name) {
      return (await given.register(`${name}@example.com`)).token
    },
  }
}

function refuseAll(): never {
  throw new HttpError(403, 'No.')
}
