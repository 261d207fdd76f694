/**
 * Endpoints of identity providers, on this machine.
 *
 * @module
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A server on this machine; answers JSON where `answer` gives an object. */
export async function listening(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that answers by path; a number is a status. */
export function answering(
  routes: Record<string, (request: IncomingMessage, url: URL, body: string) => unknown>,
): Promise<string> {
  return listening(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://x')
    let body = ''
    for await (const chunk of request) body += chunk
    const answer = routes[url.pathname]?.(request, url, body) ?? 404
    response.statusCode = typeof answer === 'number' ? answer : 200
    response.end(typeof answer === 'number' ? '{"message":"no"}' : JSON.stringify(answer))
  })
}
