/**
 * AWS Lambda: a handler for function URLs and for HTTP APIs of API Gateway (payload format 2.0).
 *
 * @module
 */

import type { App } from '../../src/app/app.ts'
import { checkOptions, flag } from '../../src/model/option-rules.ts'
import { buffered } from '../../src/ports/services/buffered.ts'
import { background } from './server.ts'

/** A request in payload format 2.0. */
export interface LambdaEvent {
  readonly version?: string
  readonly rawPath: string
  readonly rawQueryString: string
  readonly cookies?: readonly string[]
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly requestContext: {
    readonly domainName?: string
    readonly stage?: string
    readonly http: { readonly method: string; readonly sourceIp?: string }
  }
  readonly body?: string
  readonly isBase64Encoded: boolean
}

/** A response in payload format 2.0. */
export interface LambdaResult {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  // Mutable, as in the types of AWS.
  readonly cookies: string[]
  readonly body: string
  readonly isBase64Encoded: boolean
}

/** A handler as Lambda calls it; the second argument is the platform's context. */
export type LambdaHandler = (event: LambdaEvent, context?: unknown) => Promise<LambdaResult>

/** What responds piece by piece, where the platform has it: a function URL with `InvokeMode: RESPONSE_STREAM`. */
interface Streaming {
  streamifyResponse(
    handler: (
      event: LambdaEvent,
      stream: LambdaStream,
      context: { callbackWaitsForEmptyEventLoop?: boolean },
    ) => Promise<void>,
  ): LambdaHandler
  readonly HttpResponseStream: { from(stream: LambdaStream, head: Head): LambdaStream }
}

interface LambdaStream {
  write(bytes: Uint8Array | string): boolean
  end(): void
  once(event: 'drain' | 'close' | 'error', listener: () => void): unknown
}

type Head = Pick<LambdaResult, 'statusCode' | 'headers' | 'cookies'>

/** Options of `lambda`. */
export interface LambdaOptions {
  /**
   * Whether responses are streamed: needed for bodies beyond 6 MB and for streams of events. The function's URL must have
   * the invoke mode `RESPONSE_STREAM`. Default false: live lists are a 406.
   */
  readonly streaming?: boolean
}

/**
 * The handler of a Lambda function that responds with `app`. It makes everything ready at the first request, and waits for
 * `context.waitUntil` before it responds, because Lambda stops the process between requests. Throws a `TypeError` for
 * `streaming` outside of Lambda; the handler rejects with one for an event of another kind.
 *
 * ```ts
 * export const handler = lambda(app)
 * ```
 */
export function lambda(app: App, options: LambdaOptions = {}): LambdaHandler {
  checkOptions(options, { streaming: flag }, 'lambda')
  const { streaming = false } = options
  if (!streaming) {
    return async (event) => {
      const { response, settled } = await respond(app, event, true)
      const bytes = new Uint8Array(await response.arrayBuffer())
      await settled()
      const text = textOf(bytes)
      return {
        ...headOf(response),
        body: text ?? Buffer.from(bytes).toString('base64'),
        isBase64Encoded: text === undefined,
      }
    }
  }
  const { awslambda } = globalThis as { readonly awslambda?: Streaming }
  if (!awslambda) throw new TypeError(`lambda: 'streaming' needs the runtime of AWS Lambda`)
  return awslambda.streamifyResponse(async (event, raw, context) => {
    // Else a function that streams runs on as long as its store keeps connections.
    context.callbackWaitsForEmptyEventLoop = false
    const { response, settled } = await respond(app, event)
    const stream = awslambda.HttpResponseStream.from(raw, headOf(response))
    await send(response, stream).finally(settled)
  })
}

async function respond(
  app: App,
  event: LambdaEvent,
  isBuffered = false,
): Promise<{ readonly response: Response; settled(): Promise<void> }> {
  const work = background()
  const { stage = '$default', http } = event.requestContext ?? {}
  if (!http) {
    throw new TypeError(
      'lambda: this event is none of a function URL, nor of an HTTP API with payload format 2.0',
    )
  }
  const basePath = stage !== '$default' && `${event.rawPath}/`.startsWith(`/${stage}/`)
  const request = requestOf(event, basePath ? stage.length + 1 : 0)
  if (isBuffered) buffered.add(request)
  const response = await app.handle(request, undefined, {
    clientAddress: http.sourceIp,
    ...(basePath && { basePath: `/${stage}` }),
    waitUntil: (promise) => work.waitUntil(promise),
  })
  return { response, settled: work.settled }
}

/** What a URL would take for something else than a part of its path; an HTTP API decodes paths. */
const NOT_IN_PATHS = /[\0- ?#\\]|%(?![\da-f]{2})/gi

/** The request of an event; its path begins after `prefix` characters. */
function requestOf(event: LambdaEvent, prefix: number): Request {
  const { method } = event.requestContext.http
  const headers = new Headers()
  for (const [name, value] of Object.entries(event.headers ?? {})) {
    if (value !== undefined) headers.set(name, inBytes(value))
  }
  if (event.cookies?.length) headers.set('Cookie', inBytes(event.cookies.join('; ')))
  const host = event.requestContext.domainName ?? headers.get('host') ?? 'localhost'
  const path = event.rawPath.slice(prefix).replace(NOT_IN_PATHS, encodeURIComponent) || '/'
  const query = event.rawQueryString ? `?${event.rawQueryString}` : ''
  const url = `https://${host}${path}${query}`
  const { body, isBase64Encoded } = event
  const hasBody = body !== undefined && method !== 'GET' && method !== 'HEAD'
  const bytes = hasBody && { body: isBase64Encoded ? Buffer.from(body, 'base64') : body }
  return new Request(url, { method, headers, ...bytes })
}

/** The value of a header as every other runtime has it: a character for each byte. `Headers` takes no others. */
function inBytes(value: string): string {
  return /[^\0-\xff]/.test(value) ? Buffer.from(value).toString('latin1') : value
}

function headOf({ status, headers }: Response): Head {
  const cookies = headers.getSetCookie()
  const others = [...headers].filter(([name]) => name !== 'set-cookie')
  return { statusCode: status, headers: Object.fromEntries(others), cookies }
}

/** The bytes as text; undefined if they are none, which Lambda then carries in base64. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

async function send({ body }: Response, stream: LambdaStream): Promise<void> {
  const reader = body?.getReader()
  let isGone = false
  let goOn = (): void => {}
  for (const event of ['close', 'error'] as const) {
    stream.once(event, () => {
      isGone = true
      goOn()
      void reader?.cancel().catch(() => {})
    })
  }
  // The status and the headers leave with the first piece, which some responses do not have.
  stream.write('')
  for (let part = await reader?.read(); part?.value && !isGone; part = await reader?.read()) {
    if (stream.write(part.value) || isGone) continue
    await new Promise<void>((resolve) => {
      goOn = resolve
      stream.once('drain', resolve)
    })
  }
  if (!isGone) stream.end()
}
