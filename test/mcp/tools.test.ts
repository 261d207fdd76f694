/** What an agent finds and does, and what it is told. */

import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { audit } from '../../src/audit/index.ts'
import { createRouter, defineModel, type Fields } from '../../src/index.ts'
import { mcp } from '../../src/mcp/index.ts'
import { document } from '../../src/openapi/index.ts'
import { type Agents, agents } from './server.ts'

async function cities(options: Parameters<typeof agents>[0], count = 3): Promise<Agents> {
  const given = await agents(options)
  const country = await given.tool('write_record', {
    model: '/countries',
    values: { name: 'Portugal' },
  })
  const { _id } = country.structuredContent.data
  for (let at = 1; at <= count; at += 1) {
    const values = { name: `Town ${at}`, country: _id, population: at }
    await given.tool('write_record', { model: '/cities', values })
  }
  return given
}

const ALL = { write: ['create', 'update', 'remove'] } as const

describe('the tools of an app', () => {
  it('are four that read, and two more as far as write says', async () => {
    const names = async (options: Parameters<typeof mcp>[0]) => {
      const { rpc } = await agents(options)
      const { body } = await rpc('tools/list')
      return body.result.tools.map((one: { name: string }) => one.name)
    }
    const reads = ['list_models', 'describe_model', 'query_records', 'read_record']
    expect(await names({})).toEqual(reads)
    expect(await names({ write: ['update'] })).toEqual([...reads, 'write_record'])
    expect(await names({ write: ['remove'] })).toEqual([...reads, 'remove_record'])
    expect(await names(ALL)).toEqual([...reads, 'write_record', 'remove_record'])
  })

  it('take at most 8,000 characters, in closed schemas', async () => {
    const { rpc } = await agents(ALL)
    const { tools } = (await rpc('tools/list')).body.result
    expect(JSON.stringify(tools).length).toBeLessThan(8000)
    expect(JSON.stringify(tools)).not.toContain('$ref')
    for (const { inputSchema } of tools) expect(inputSchema.additionalProperties).toBe(false)
  })

  it('list the models by their mounts, with what the caller may do, and no accounts', async () => {
    const { tool, signUp, admin } = await agents(ALL)
    const all = ['list', 'read', 'create', 'update', 'remove']
    const listed = async (as?: string) =>
      Object.fromEntries(
        (await tool('list_models', {}, as)).structuredContent.data.map(
          (one: { model: string; actions: string[] }) => [one.model, one.actions],
        ),
      )
    const open = { '/countries': all, '/cities': ['list', 'read', 'create'] }
    expect(await listed()).toEqual(open)
    expect(await listed(await signUp('ann'))).toEqual({ ...open, '/favourites': all })
    expect((await listed((await admin()).token))['/cities']).toEqual([...all.slice(0, 4)])
  })

  it('reach no route of accounts, whatever is given as the id of a record', async () => {
    const { tool, admin } = await agents(ALL)
    const { token } = await admin()
    for (const id of ['me', 'users', 'sessions']) {
      const { structuredContent } = await tool('read_record', { model: '/auth', id }, token)
      expect(structuredContent.error, id).toMatch(/^There is no model '\/auth'/)
    }
  })

  it('describe a model without what is hidden, 30 fields in 8,000 characters', async () => {
    const { app, tool } = await agents(ALL)
    const described = await tool('describe_model', { model: '/cities' })
    const { fields, create, query } = described.structuredContent.data
    expect(Object.keys(fields)).not.toContain('secret')
    expect(fields).toMatchObject({
      country: { ref: 'McpCountry' },
      name: { type: 'string', max_length: 100 },
      population: { type: 'number', number_format: 'safeint', gte: 0 },
      kind: { type: 'optional enum', enum: ['port', 'inland'] },
      'mayor.name': { type: 'string' },
    })
    expect(JSON.stringify(described)).not.toContain('salary')
    expect(create).toEqual(['name', 'country', 'population', 'kind', 'notes', 'mayor'])
    expect(query).toMatchObject({ search: ['name'], expand: ['country'], by: ['country'] })
    expect(query.operators).toContain('gte')
    const text = z.string().min(1).max(2000).describe('Anything that there is to say of it.')
    const names = Array.from({ length: 30 }, (_, at) => `field${at}`)
    const Wide = defineModel('McpWide', {
      fields: Object.fromEntries(names.map((name) => [name, text])),
    })
    app.mount(
      '/wide',
      createRouter({ model: Wide, middlewares: [], allowedFields: names, query: names }),
    )
    const wide = await tool('describe_model', { model: '/wide' })
    expect(wide.content[0]?.text.length).toBeLessThan(8000)
  })

  it('describe every member: of variants, all values that tell them apart; each of one schema', async () => {
    const { app, tool } = await agents(ALL)
    const at = z.object({ on: z.literal(['map', 'globe']), at: z.string() })
    const name = z.string().max(9)
    const town = z.object({ name })
    const Placed = defineModel('McpPlaced', {
      fields: {
        place: z.discriminatedUnion('on', [at, z.object({ on: z.literal('list'), no: z.int() })]),
        kind: z.union([z.literal('port'), z.literal('inland')]).optional(),
        // Of one schema each.
        from: z.object({ first: name, last: name, home: town, work: z.array(town) }),
      },
    })
    app.mount('/placed', createRouter({ model: Placed, middlewares: [], allowedFields: [] }))
    const { structuredContent } = await tool('describe_model', { model: '/placed' })
    const { fields } = structuredContent.data
    expect(fields['place.on'].enum).toEqual(['map', 'globe', 'list'])
    expect(fields.kind.enum).toEqual(['port', 'inland'])
    for (const path of ['first', 'last', 'home.name', 'work.name'])
      expect(fields[`from.${path}`]).toEqual({ type: 'string', max_length: 9 })
    expect(fields['from.work']).toEqual({ type: 'array object' })
  })

  it('find, count, read, change and delete records', async () => {
    const { tool, admin } = await cities(ALL)
    const found = await tool('query_records', {
      model: '/cities',
      filter: { or: [{ population: { gte: 3 } }, { name: 'Town 1' }] },
      ...{ sort: ['-population'], select: ['name'], expand: ['country'] },
    })
    const { data, pagination } = found.structuredContent
    expect(data.map((one: { name: string }) => one.name)).toEqual(['Town 3', 'Town 1'])
    expect(pagination).toMatchObject({ hasMore: false })
    expect(JSON.parse(found.content[0]?.text ?? '')).toEqual(found.structuredContent)
    const counted = await tool('query_records', {
      model: '/cities',
      ...{ aggregate: { count: true, sum: ['population'] }, by: ['country'] },
    })
    expect(counted.structuredContent.data).toMatchObject([{ count: 3, sum: { population: 6 } }])
    const { token } = await admin()
    const at = { model: '/cities', id: data[0]._id }
    const read = await tool('read_record', at)
    expect(read.structuredContent.data).toMatchObject({ name: 'Town 3', population: 3 })
    const ifMatch = /etag: (.+)/.exec(read.content[1]?.text ?? '')?.[1]
    const change = { ...at, values: { population: 9 }, ifMatch }
    const changed = await tool('write_record', change, token)
    expect(changed.structuredContent.data).toMatchObject({ name: 'Town 3', population: 9 })
    const late = await tool('write_record', change, token)
    expect([late.isError, late.structuredContent.error]).toEqual([
      true,
      'The record has changed since it was read.',
    ])
    const country = await tool('query_records', { model: '/countries' })
    const id = country.structuredContent.data[0]._id
    const removed = await tool('remove_record', { model: '/countries', id })
    expect(removed.isError).toBeUndefined()
    const gone = await tool('read_record', { model: '/countries', id })
    expect(gone.structuredContent).toMatchObject({ success: false, error: 'Entry not found.' })
  })

  it('return at most 50 records and 20,000 characters, and say how to go on', async () => {
    const { app, tool } = await agents(ALL)
    const Note = defineModel('McpNote', { fields: { text: z.string(), at: z.number() } })
    app.mount(
      '/notes',
      createRouter({ model: Note, middlewares: [], allowedFields: [], query: ['at'] }),
    )
    const notes = app.store.collection(Note)
    for (let at = 0; at < 60; at += 1)
      await notes.insert({ at, text: 'x'.repeat(at % 7 ? 10 : 3000) })
    const seen: number[] = []
    let page: object = { limit: 100 }
    for (let more = true; more; ) {
      const result = await tool('query_records', { model: '/notes', sort: ['at'], ...page })
      const { data, pagination } = result.structuredContent
      expect(result.content[0]?.text.length).toBeLessThanOrEqual(20_000)
      expect(data.length).toBeLessThanOrEqual(50)
      seen.push(...data.map((one: { at: number }) => one.at))
      more = pagination.currentPage < pagination.totalPages
      if (more) expect(result.content[1]?.text).toContain('the next page with the same pageSize')
      page = { page: pagination.currentPage + 1, pageSize: pagination.pageSize }
    }
    expect(new Set(seen)).toEqual(new Set(Array.from({ length: 60 }, (_, at) => at)))
    const long = await notes.insert({ at: 99, text: 'x'.repeat(30_000) })
    const read = await tool('read_record', { model: '/notes', id: long._id })
    expect([read.structuredContent, read.content[1]?.text]).toEqual([
      { data: { _id: long._id } },
      'Too long: select in query_records.',
    ])
    const part = await tool('query_records', {
      model: '/notes',
      ...{ filter: { at: 99 }, select: ['at'] },
    })
    expect(part.structuredContent.data).toEqual([{ _id: long._id, at: 99 }])
  })

  it('go on by a cursor where lists have cursors', async () => {
    const { tool } = await cities(ALL, 5)
    const first = await tool('query_records', { model: '/cities', limit: 3 })
    const { nextCursor: cursor } = first.structuredContent.pagination
    expect(first.content[1]?.text).toContain('send nextCursor as cursor')
    const next = await tool('query_records', { model: '/cities', limit: 3, cursor })
    expect(next.structuredContent.data).toHaveLength(2)
    expect(next.content).toHaveLength(1)
  })
})

describe('a tool that is refused', () => {
  it('take a number that is too large for what it is, and not for null', async () => {
    const { tool } = await cities(ALL)
    const large = (JSON as unknown as { rawJSON(text: string): number }).rawJSON('1e400')
    const values = { name: 'Town', mayor: { name: 'Ann', salary: large } }
    const written = await tool('write_record', { model: '/cities', values })
    expect(written.structuredContent.fields).toHaveProperty(['mayor.salary'])
    const filter = { population: { lte: large } }
    const found = await tool('query_records', { model: '/cities', filter })
    expect(found.structuredContent.error).toBe('Invalid value for population.')
  })

  it('says what to send instead', async () => {
    const { tool } = await cities(ALL, 1)
    const filter = await tool('query_records', { model: '/cities', filter: { populaton: 1 } })
    expect(filter.isError).toBe(true)
    expect(filter.structuredContent).toMatchObject({
      ...{ success: false, error: "Field 'populaton' is not filterable." },
    })
    expect(filter.content[1]?.text).toContain("Did you mean 'population'?")
    expect(filter.content[1]?.text).toContain('"filter":["name","country","population"]')
    const errorOf = async (name: string, given: object) =>
      (await tool(name, given)).structuredContent.error
    expect(await errorOf('query_records', { model: '/citys' })).toBe(
      "There is no model '/citys'. Did you mean '/cities'?",
    )
    expect(await errorOf('query_records', { model: '/cities', filters: {} })).toBe(
      "There is no argument 'filters'. Did you mean 'filter'?",
    )
    expect(await errorOf('read_record', { model: '/cities' })).toBe("'id' is required.")
    expect(await errorOf('read_record', { model: '/cities', id: '..' })).toBe('Invalid ID format.')
    const { content } = await tool('read_record', { model: '/cities', id: '12' })
    expect(content[1]?.text).toBe('It takes {"id":"objectId"}.')
    const { _id: id } = (await tool('query_records', { model: '/countries' })).structuredContent
      .data[0]
    for (const values of [1, 0, '', null, []]) {
      for (const args of [{ values }, { values, id }]) {
        const written = await tool('write_record', { model: '/countries', ...args })
        expect([written.isError, written.structuredContent.success]).toEqual([true, false])
      }
    }
    const read = await tool('read_record', { model: '/countries', id })
    expect(read.structuredContent.data.name).toBe('Portugal')
    const wrong = await tool('write_record', { model: '/cities', values: { population: 'many' } })
    expect(Object.keys(wrong.structuredContent.fields)).toContain('population')
  })

  it('changes nothing that write does not name, and nothing that the caller may not', async () => {
    const { tool, app } = await cities({ write: ['create'] }, 1)
    const found = await tool('query_records', { model: '/cities' })
    const at = { model: '/cities', id: found.structuredContent.data[0]._id }
    const changed = await tool('write_record', { ...at, values: { name: 'Other' } })
    expect(changed.structuredContent.error).toBe('Agents may not update here.')
    app.mount('/agents', mcp(ALL))
    expect((await tool('read_record', at)).structuredContent.data.name).toBe('Town 1')
    const open = await cities(ALL, 1)
    const { data } = (await open.tool('query_records', { model: '/cities' })).structuredContent
    const mine = { model: '/cities', id: data[0]._id }
    const asUser = await open.tool(
      'write_record',
      { ...mine, values: { name: 'x' } },
      await open.signUp('ann'),
    )
    expect(asUser.isError).toBe(true)
    expect((await open.tool('remove_record', mine)).isError).toBe(true)
    expect((await open.tool('read_record', mine)).structuredContent.data.name).toBe('Town 1')
  })

  it('answers 401 with the place of the metadata to callers who have to sign in', async () => {
    const { rpc, send } = await agents()
    const call = { name: 'query_records', arguments: { model: '/favourites' } }
    const refused = await rpc('tools/call', call)
    expect(refused.status).toBe(401)
    const at = 'http://localhost/.well-known/oauth-protected-resource/mcp'
    expect(refused.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${at}"`)
    expect(refused.body.result).toMatchObject({ isError: true })
    const stale = await rpc(
      'tools/call',
      { name: 'list_models' },
      { authorization: 'Bearer x.y.z' },
    )
    expect([stale.status, stale.body.result.isError]).toEqual([401, true])
    // The same if the app's own guards refuse the call itself.
    const { app, auth, send: sent } = await agents()
    app.use(auth.requireAuth)
    for (const path of ['/mcp', '/cities']) {
      const { status, headers } = await sent('POST', path, {})
      const challenge = path === '/mcp' ? `Bearer resource_metadata="${at}"` : 'Bearer'
      expect([status, headers.get('www-authenticate')]).toEqual([401, challenge])
    }
    for (const path of ['', '/mcp']) {
      const { body } = await send('GET', `/.well-known/oauth-protected-resource${path}`)
      expect(body).toEqual({ resource: 'http://localhost/mcp' })
    }
  })
})

it.each([
  ['/', '/', ''],
  ['/tools', '/tools/', '/tools'],
])('tools at %s say at %s too how to sign in', async (mount, path, place) => {
  const { app, send } = await agents()
  app.mount(mount, mcp())
  const params = { name: 'query_records', arguments: { model: '/favourites' } }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const { status, headers } = await send('POST', path, call)
  const at = `http://localhost/.well-known/oauth-protected-resource${place}`
  const challenge = `Bearer resource_metadata="${at}"`
  expect([status, headers.get('www-authenticate')]).toEqual([401, challenge])
})

it('behind a proxy that ends TLS, the place of the metadata and of the tools is the one that clients know', async () => {
  const { app } = await agents()
  const params = { name: 'query_records', arguments: { model: '/favourites' } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  // Of several proxies, the first one is the client's.
  const headers = { 'x-forwarded-proto': 'https, http', 'content-type': 'application/json' }
  const ask = (path: string, init = {}) =>
    app.handle(new Request(`http://x.example${path}`, { headers, ...init }))
  const place = '/.well-known/oauth-protected-resource/mcp'
  const refused = await ask('/mcp', { method: 'POST', body })
  expect(refused.headers.get('www-authenticate')).toContain(`"https://x.example${place}"`)
  expect(await (await ask(place)).json()).toEqual({ resource: 'https://x.example/mcp' })
})

describe('a router without QUERY', () => {
  it('is read and written record by record', async () => {
    const { app, tool } = await agents(ALL)
    const Plain = defineModel('McpPlain', { fields: { name: z.string() } })
    app.mount(
      '/plain',
      createRouter({
        ...{ model: Plain, middlewares: [], query: ['name'], enableQuery: false },
        allowedFields: ['name'],
      }),
    )
    const listed = await tool('list_models')
    const { actions } = listed.structuredContent.data.at(-1)
    expect(actions).toEqual(['read', 'create', 'update', 'remove'])
    const made = await tool('write_record', { model: '/plain', values: { name: 'a' } })
    const { _id: id } = made.structuredContent.data
    const read = await tool('read_record', { model: '/plain', id })
    expect(read.structuredContent.data.name).toBe('a')
    expect((await tool('query_records', { model: '/plain' })).isError).toBe(true)
  })
})

it('a router at the root of the app is the model /', async () => {
  const { app, tool } = await agents(ALL)
  const Root = defineModel('McpRoot', { fields: { name: z.string() } })
  app.mount('/', createRouter({ model: Root, middlewares: [], allowedFields: ['name'] }))
  const { model } = (await tool('list_models')).structuredContent.data.at(-1)
  const made = await tool('write_record', { model, values: { name: 'a' } })
  const { _id: id } = made.structuredContent.data
  const read = await tool('read_record', { model, id })
  expect([model, read.structuredContent.data.name]).toEqual(['/', 'a'])
  expect((await tool('query_records', { model })).structuredContent.data).toHaveLength(1)
})

describe('mcp()', () => {
  it('refuses options that make no sense', () => {
    expect(() => mcp({ write: ['creat'] as never })).toThrow(
      "mcp: 'write' must be a list of create,update,remove",
    )
    expect(() => mcp({ tools: [] } as never)).toThrow("mcp: unknown option 'tools'")
  })
})

describe('descriptions of an app', () => {
  it('have the tools, and what says how to sign in', async () => {
    const { app } = await agents()
    const rows = audit(app).filter(({ path }) => /mcp|well-known/.test(path))
    expect(rows.map(({ method, path, who }) => `${method} ${path}: ${who}`)).toEqual([
      'GET /.well-known/oauth-protected-resource: anyone',
      'GET /.well-known/oauth-protected-resource/mcp: anyone',
      'POST /mcp: anyone',
    ])
    const byAgents = async (options?: Parameters<typeof agents>[0]) =>
      audit((await agents(options)).app).flatMap(({ method, path, agents: reach }) =>
        reach && path.startsWith('/countries') ? [method] : [],
      )
    expect(await byAgents()).toEqual(['QUERY', 'GET'])
    expect(await byAgents({ write: ['update', 'remove'] })).toEqual([
      'QUERY',
      'GET',
      'PATCH',
      'DELETE',
    ])
    const { paths } = document(app, { title: 'Cities', version: '1' })
    expect(paths['/mcp']).toHaveProperty('post.summary', 'Tools for agents')
    const ids = Object.values(paths).flatMap((item) =>
      Object.values(item as object).map((one) => (one as { operationId?: string }).operationId),
    )
    const known = ids.filter((id) => id !== undefined)
    expect(new Set(known).size).toBe(known.length)
  })

  it('are described with the errors of JSON-RPC beside those of the app', async () => {
    const { app, rpc, send } = await agents()
    const { paths, components } = document(app, { title: 'Cities', version: '1' })
    const described = (paths['/mcp'] as Fields).post as { responses: Fields }
    const { RpcFailure } = components.schemas as Record<string, Fields>
    const bodies = [
      await send('POST', '/mcp', { jsonrpc: '1.0' }),
      await send('POST', '/mcp', 'x', { 'content-type': 'text/plain' }),
      await rpc('tools/none'),
    ]
    expect(bodies.map(({ status }) => status)).toEqual([400, 415, 404])
    for (const { status, body } of bodies) {
      expect(described.responses[status]).toHaveProperty('content.application/json.schema.anyOf', [
        { $ref: '#/components/schemas/RpcFailure' },
        { $ref: '#/components/schemas/Failure' },
      ])
      expect(z.fromJSONSchema(RpcFailure as never).safeParse(body).error).toBeUndefined()
      expect((described.responses[status] as Fields).description).toContain(body.error.message)
    }
  })
})
