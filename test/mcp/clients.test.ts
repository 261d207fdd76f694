/** The protocol's own clients, of both generations, against an app in process. */

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, it } from 'vitest'
import { agents } from './server.ts'

const INFO = { name: 'test', version: '1' }
const URL_OF_TOOLS = new URL('http://localhost/mcp')

async function options() {
  const { app } = await agents({ write: ['create'], instructions: 'Cities.' })
  return {
    fetch: (input: string | URL | Request, init?: RequestInit) =>
      app.handle(new Request(input, init)),
  }
}

it('the client of the SDK 1 lists and calls the tools', async () => {
  const client = new EarlierClient(INFO)
  await client.connect(new EarlierTransport(URL_OF_TOOLS, await options()) as never)
  expect(client.getInstructions()).toBe('Cities.')
  expect((await client.listTools()).tools).toHaveLength(5)
  const values = { name: 'Portugal' }
  const made = await client.callTool({
    ...{ name: 'write_record', arguments: { model: '/countries', values } },
  })
  expect(made.structuredContent).toMatchObject({ data: values })
  const wrong = await client.callTool({ name: 'query_records', arguments: { model: '/x' } })
  expect(wrong.isError).toBe(true)
  await client.close()
})

it('the client of the SDK 2 speaks 2026-07-28', async () => {
  const client = new Client(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(new StreamableHTTPClientTransport(URL_OF_TOOLS, await options()))
  expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
  expect((await client.listTools()).tools).toHaveLength(5)
  const found = await client.callTool({ name: 'list_models', arguments: {} })
  expect(JSON.stringify(found.structuredContent)).toContain('/countries')
  await client.close()
})
