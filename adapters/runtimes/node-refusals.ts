/** Responses that the Node adapter makes itself: requests that never reach the app still get its envelope. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { dropRest, hangUp, left } from './node-connections.ts'

const STATUSES: Readonly<Record<string, readonly [number, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
  HPE_INVALID_URL: [400, 'The URL has characters that must be percent-encoded'],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
}

/** Closes a connection that sent invalid HTTP, or sent it too slowly. */
export function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!left.has(socket)) end(socket, ...(STATUSES[error.code ?? ''] ?? [400, 'Bad Request']))
}

/** Closes a connection that asks to become a tunnel, with the response for an unknown method. */
export function refuseTunnel(_request: IncomingMessage, socket: Socket): void {
  // Node no longer watches it.
  socket.on('error', () => socket.destroy())
  socket.on('drain', () => respondOn(socket)?.emit('drain'))
  end(socket, 404, 'Not found')
}

/** Ends a connection with a refusal, after the responses to the requests that came whole, which may have written. */
function end(socket: Socket, status: number, text: string): void {
  dropRest(socket)
  const current = respondOn(socket)
  if (current?.req.complete) return void current.once('finish', () => end(socket, status, text))
  // Within a response on its way, another one would be taken for a part of it.
  if (current?.headersSent) return void socket.destroy()
  // The last response has said that it is the last.
  if (!socket.writable) return
  if (current) abandon(current, socket)
  const { body, fields } = envelope(`${text}.`)
  const head = Object.entries({ ...fields, Connection: 'close' })
  const lines = [`HTTP/1.1 ${status} ${text}`, ...head.map(([name, value]) => `${name}: ${value}`)]
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  hangUp(socket)
}

/** Tells what handles a request that the rest of it is not to come, and takes no response from it. */
function abandon(response: ServerResponse, socket: Socket): void {
  const { req } = response
  response.detachSocket(socket)
  response.destroy().emit('close')
  // Node's own closes the connection.
  req._destroy = (error, destroyed) => destroyed(error)
  req.destroy()
}

/**
 * The response to a request that Node's parser accepts but the rules forbid (RFC 9112, 2.3, 3.2 and 6.1); undefined for
 * any other. Without a Host, Node's own response would have no body; HTTP/0.9, and chunks in HTTP/1.0, have no clear
 * end.
 */
export function malformed({ headers, httpVersion }: IncomingMessage): Response | undefined {
  if (httpVersion === '1.1') {
    return headers.host === undefined ? refusal(400, 'A Host header is required.') : undefined
  }
  if (httpVersion !== '1.0') return refusal(505, 'HTTP Version Not Supported.')
  if (headers['transfer-encoding'] === undefined) return undefined
  return refusal(400, 'HTTP/1.0 has no Transfer-Encoding.')
}

/** Responds to a request that the app cannot be asked, or whose response cannot be sent; the console has why. */
export function fail(response: ServerResponse, error: unknown): void {
  const { body, fields } = envelope('Internal Server Error')
  console.error(fields['X-Request-Id'], error)
  if (response.headersSent) return void response.destroy()
  for (const name of response.getHeaderNames()) response.removeHeader(name)
  response.writeHead(500, fields).end(body)
}

/** The response to a request that the app is not asked. */
export function refusal(status: number, error: string): Response {
  const { body, fields } = envelope(error)
  return new Response(body, { status, headers: fields })
}

/** The response in progress on a connection, or the one that its request waits for. */
export function respondOn(socket: Socket): ServerResponse | undefined {
  // What stands in for node:http may have no socket.
  return (socket as { _httpMessage?: ServerResponse | null } | undefined)?._httpMessage ?? undefined
}

function envelope(error: string): { body: string; fields: Record<string, string> } {
  const requestId = crypto.randomUUID()
  const body = JSON.stringify({ success: false, error, requestId })
  return {
    body,
    fields: {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': String(body.length),
      'X-Request-Id': requestId,
    },
  }
}
