/**
 * What stands before a Lambda function: makes an event of each HTTP request, and a response of what the function returns
 * or streams, as AWS describes payload format 2.0.
 *
 * @module
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { LambdaEvent, LambdaHandler, LambdaResult } from '../../adapters/runtimes/lambda.ts'

type Head = Pick<LambdaResult, 'statusCode' | 'headers' | 'cookies'>

/** The streams that functions write to, by the events that they respond to. */
const streams = new WeakMap<LambdaEvent, ServerResponse>()

/** The paths whose functions AWS would let run until nothing is left to do, such as an open connection. */
export const waiting: string[] = []

/** The global of Lambda's runtime, for functions that stream. */
export const awslambda = {
  streamifyResponse:
    (handler: (event: LambdaEvent, stream: ServerResponse, context: object) => Promise<void>) =>
    async (event: LambdaEvent): Promise<undefined> => {
      const context = { callbackWaitsForEmptyEventLoop: true }
      await handler(event, streams.get(event) as ServerResponse, context)
      if (context.callbackWaitsForEmptyEventLoop) waiting.push(event.rawPath)
    },
  HttpResponseStream: {
    from(stream: ServerResponse, head: Head): ServerResponse {
      const { write, end } = stream
      // AWS sends the head with the first piece; `end` sends none.
      stream.write = (piece: Uint8Array) => {
        stream.write = write
        begin(stream, head)
        return stream.write(piece)
      }
      stream.end = () => Reflect.apply(end, stream, [])
      return stream
    },
  },
}

function begin(response: ServerResponse, { statusCode, headers, cookies }: Head): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (cookies.length > 0) response.setHeader('Set-Cookie', cookies)
  response.writeHead(statusCode)
}

/** Serves a function; `stage` is that of an API, which stands before each path. */
export async function gateway(
  handler: LambdaHandler,
  stage = '$default',
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const event = await eventOf(request, stage)
    streams.set(event, response)
    const result = await handler(event)
    if (!result) return
    begin(response, result)
    response.end(Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function eventOf(request: IncomingMessage, stage: string): Promise<LambdaEvent> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
  const { cookie, ...headers } = request.headers
  const isText = TEXT.test(headers['content-type'] ?? '')
  return {
    version: '2.0',
    rawPath: stage === '$default' ? pathname : `/${stage}${pathname}`,
    rawQueryString: search.slice(1),
    ...(cookie !== undefined && { cookies: cookie.split('; ') }),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value].flat().join(',')]),
    ),
    requestContext: {
      stage,
      http: { method: request.method ?? 'GET', sourceIp: request.socket.remoteAddress ?? '' },
    },
    ...(bytes.length > 0 && { body: bytes.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: !isText,
  }
}

const TEXT = /^(?:text\/|application\/(?:json|x-www-form-urlencoded))/
