/**
 * One server of the comparison: `node -C fieldgate-source bench/bridge/bridges.ts <name>`.
 *
 * @module
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answer, echo, REQUEST_ID, webHandler } from './works.ts'

/** How each answers; the limit is `bare`, which has no Request and no Response. */
const bridges: Readonly<Record<string, () => Promise<Server>>> = {
  async bare() {
    return createServer(bare)
  },
  async srvx() {
    const { toNodeHandler } = await import('srvx/node')
    return createServer(toNodeHandler(webHandler(Response)) as never)
  },
  /** Answers made with srvx's own class. */
  async 'srvx FastResponse'() {
    const { FastResponse, toNodeHandler } = await import('srvx/node')
    return createServer(toNodeHandler(webHandler(FastResponse as never)) as never)
  },
  async '@hono/node-server'() {
    const { getRequestListener } = await import('@hono/node-server')
    const handler = webHandler(Response)
    return createServer(getRequestListener(handler, { overrideGlobalObjects: false }))
  },
  /** Its default: it replaces the global Request and Response of the process. */
  async '@hono/node-server, globals replaced'() {
    const { getRequestListener } = await import('@hono/node-server')
    const listener = getRequestListener((request) => webHandler(Response)(request))
    return createServer(listener)
  },
}

const TYPE = { 'Content-Type': 'application/json; charset=utf-8' }

function bare(request: IncomingMessage, response: ServerResponse): void {
  const send = (body: string, headers: Record<string, string> = TYPE) => {
    response.writeHead(200, { ...headers, 'Content-Length': Buffer.byteLength(body) })
    response.end(body)
  }
  const path = request.url ?? ''
  if (path.startsWith('/constant')) send(answer)
  else if (path.startsWith('/read')) send(echo('p', path, request.headers['content-type']))
  else if (path.startsWith('/header')) send(answer, { ...TYPE, 'X-Request-Id': REQUEST_ID })
  else {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const sent = JSON.parse(Buffer.concat(chunks).toString()) as { data: { name: string } }
      send(echo('n', sent.data.name))
    })
  }
}

const start = bridges[process.argv[2] ?? '']
if (!start) throw new Error(`one of: ${Object.keys(bridges).join(', ')}`)
const server = await start()
server.listen(0, '127.0.0.1', () => {
  console.log(`listening ${(server.address() as AddressInfo).port}`)
})
