/** Streamable HTTP: which requests are taken, and how they are answered. */

import { describe, expect, it } from 'vitest'
import { apiKey, cors } from '../../src/guards/index.ts'
import { agents, REVISION } from './server.ts'

const call = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 7, method, params })
const base64 = (text: string) => `=?base64?${btoa(text)}?=`

describe('a request of 2026-07-28', () => {
  it('stands alone', async () => {
    const { rpc } = await agents({ instructions: 'Cities of the world.' })
    const found = await rpc('server/discover')
    expect(found.status).toBe(200)
    expect(found.body.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [REVISION, '2025-11-25', '2025-06-18'],
      capabilities: { tools: {} },
      instructions: 'Cities of the world.',
    })
    const listed = await rpc('tools/list')
    expect(listed.body.result).toMatchObject({ resultType: 'complete', cacheScope: 'private' })
    expect(listed.body.result.ttlMs).toBeGreaterThan(0)
    expect(listed.headers.get('mcp-session-id')).toBeNull()
  })

  it('has headers that say what its body says', async () => {
    const { rpc } = await agents()
    const list = { name: 'list_models', arguments: {} }
    const codeOf = async (headers: object, method = 'tools/call', params: object = list) => {
      const { status, body } = await rpc(method, params, headers)
      return [status, body.error?.code]
    }
    expect(await codeOf({ 'mcp-name': base64('list_models') })).toEqual([200, undefined])
    expect(await codeOf({ 'mcp-name': base64('read_record') })).toEqual([400, -32020])
    expect(await codeOf({ 'mcp-name': '=?base64?%?=' })).toEqual([400, -32020])
    expect(await codeOf({ 'mcp-method': 'TOOLS/CALL' })).toEqual([400, -32020])
    expect(await codeOf({ 'mcp-protocol-version': '2025-11-25' })).toEqual([400, -32020])
    expect(await codeOf({}, 'prompts/list', {})).toEqual([404, -32601])
    expect(await codeOf({}, 'initialize', {})).toEqual([404, -32601])
    const { body } = await rpc('tools/call', { name: 'read_records', arguments: {} })
    expect(body.error).toEqual({
      code: -32602,
      message: "There is no tool 'read_records'. Did you mean 'read_record'?",
    })
  })

  it('names a version that there is, and what the client can do', async () => {
    const { send } = await agents()
    const meta = 'io.modelcontextprotocol/'
    const ask = (version: string, _meta?: object) =>
      send('POST', '/mcp', call('tools/list', _meta ? { _meta } : {}), {
        ...{ 'mcp-protocol-version': version, 'mcp-method': 'tools/list' },
      })
    const unknown = await ask('2099-01-01', { [`${meta}protocolVersion`]: '2099-01-01' })
    expect([unknown.status, unknown.body]).toMatchObject([
      400,
      { id: 7, error: { code: -32022, data: { requested: '2099-01-01' } } },
    ])
    expect(unknown.body.error.data.supported).toContain(REVISION)
    expect((await ask('2099-01-01')).body.error.code).toBe(-32022)
    expect((await ask(REVISION)).body.error.code).toBe(-32602)
    const bare = await ask(REVISION, { [`${meta}protocolVersion`]: REVISION })
    expect([bare.status, bare.body.error.code]).toEqual([400, -32602])
  })
})

it('a tool says of each argument what it has to be', async () => {
  const { rpc } = await agents({ write: ['create', 'update', 'remove'] })
  const { tools } = (await rpc('tools/list')).body.result
  const kindOf = ({ type, items }: { type: string; items?: { type: string } }) =>
    items ? `${type} of ${items.type}` : type
  const kinds = tools.flatMap(({ inputSchema }: { inputSchema: { properties: object } }) =>
    Object.entries(inputSchema.properties).map(([name, schema]) => [name, kindOf(schema)]),
  )
  expect(Object.fromEntries(kinds)).toEqual({
    ...{ model: 'string', id: 'string', ifMatch: 'string', search: 'string', cursor: 'string' },
    ...{ filter: 'object', aggregate: 'object', values: 'object' },
    ...{ sort: 'array of string', select: 'array of string', expand: 'array of string' },
    ...{ by: 'array of string', page: 'integer', pageSize: 'integer', limit: 'integer' },
  })
})

describe('a client of an earlier revision', () => {
  it.each(['2025-11-25', '2025-06-18'])(
    'of %s begins with initialize, and has no session',
    async (version) => {
      const { send } = await agents()
      const began = await send('POST', '/mcp', call('initialize', { protocolVersion: version }))
      expect(began.body.result).toMatchObject({
        protocolVersion: version,
        capabilities: { tools: {} },
      })
      expect(began.headers.get('mcp-session-id')).toBeNull()
      const headers = { 'mcp-protocol-version': version }
      const told = { jsonrpc: '2.0', method: 'notifications/initialized' }
      const noted = await send('POST', '/mcp', told, headers)
      expect([noted.status, noted.text]).toEqual([202, ''])
      expect((await send('POST', '/mcp', call('ping'), headers)).body.result).toEqual({})
      const { result } = (await send('POST', '/mcp', call('tools/list'), headers)).body
      expect(result.tools).toHaveLength(4)
      const unknown = await send('POST', '/mcp', call('prompts/list'), headers)
      expect([unknown.status, unknown.body.error.code]).toEqual([200, -32601])
    },
  )

  it('that asks for another one is offered the newest of them', async () => {
    const { send } = await agents()
    const { body } = await send(
      'POST',
      '/mcp',
      call('initialize', { protocolVersion: '2024-11-05' }),
    )
    expect(body.result.protocolVersion).toBe('2025-11-25')
  })
})

describe('the route', () => {
  it('takes POST alone', async () => {
    const { send } = await agents()
    for (const method of ['GET', 'DELETE']) expect((await send(method, '/mcp')).status).toBe(405)
  })

  it('refuses what is no request', async () => {
    const { send, app } = await agents()
    for (const body of [
      [call('ping')],
      { id: 1 },
      { ...call('ping'), id: {} },
      { ...call('ping'), jsonrpc: '1.0' },
      null,
      call(['ping'] as never),
    ]) {
      const { status, body: answer } = await send('POST', '/mcp', body)
      expect([status, answer.error.code]).toEqual([400, -32600])
    }
    const bad = await app.handle(
      new Request('http://localhost/mcp', {
        ...{ method: 'POST', body: '{', headers: { 'content-type': 'application/json' } },
      }),
    )
    expect([bad.status, (await bad.json()).error.code]).toEqual([400, -32700])
  })

  it('tells who is not refused nothing of signing in, and nobody of another scheme', async () => {
    const { rpc, app } = await agents()
    expect((await rpc('tools/list')).headers.get('www-authenticate')).toBeNull()
    app.use(apiKey({ keys: ['a-key'] }))
    const { status, headers } = await rpc('tools/list')
    const challenge = 'ApiKey header="X-API-Key"'
    expect([status, headers.get('www-authenticate')]).toEqual([401, challenge])
  })

  it('refuses pages of other origins, also if their names lead here', async () => {
    const { send, app } = await agents()
    const statusFor = async (headers: object) =>
      (await send('POST', '/mcp', call('ping'), headers)).status
    expect(await statusFor({ origin: 'https://evil.example' })).toBe(403)
    expect(await statusFor({ origin: 'http://evil.example', host: 'evil.example' })).toBe(403)
    expect(await statusFor({ origin: 'null' })).toBe(403)
    expect(await statusFor({ origin: 'http://localhost:6274' })).toBe(200)
    expect(await statusFor({ origin: 'https://api.example', host: 'api.example' })).toBe(200)
    // Without a Host, the URL has it.
    const headers = { origin: 'https://api.example', 'content-type': 'application/json' }
    const own = { method: 'POST', body: JSON.stringify(call('ping')), headers }
    expect((await app.handle(new Request('https://api.example/mcp', own))).status).toBe(200)
    app.use(cors({ origins: ['https://app.example'] }))
    expect(await statusFor({ origin: 'https://app.example' })).toBe(200)
    expect(await statusFor({ origin: 'https://evil.example' })).toBe(403)
  })
})
