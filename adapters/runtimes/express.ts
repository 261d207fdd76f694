/**
 * An app as a request listener: in Express, in other frameworks on node:http, and on node:http itself.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../../src/app/app.ts'
import { checkOptions, isFunction } from '../../src/model/option-rules.ts'
import { pathOf } from '../../src/ports/values/paths.ts'
import { plainAddress } from './client-address.ts'
import { ServedRequest } from './messages/node-request.ts'
import { leaveUnread } from './node-connections.ts'
import { hasBody, inTurn, jsonAsRead, outbox } from './node-messages.ts'
import { fail, malformed, refusal } from './node-refusals.ts'

/** A request of Express 4 or 5, as far as it is used; what node:http gives fits too. */
export interface ExpressRequest extends IncomingMessage {
  /** The path that `app.use` has taken from the URL. */
  readonly baseUrl?: string
  /** The URL as it was sent. */
  readonly originalUrl?: string
  /** The client's address, by Express's own setting `trust proxy`. */
  readonly ip?: string | undefined
  /** What a parser such as `express.json()` has made of the body. */
  readonly body?: unknown
}

/** A middleware of Express. Without `next`, requests for paths that the app does not serve are a 404. */
export type ExpressListener = (
  request: ExpressRequest,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

type Platform = NonNullable<Parameters<App['handle']>[2]>

/** An `AuthContext`, or nothing or `false` for an anonymous request; or a promise of it. */
type FoundAuth = ReturnType<NonNullable<Platform['auth']>>

/** Options of `toExpress`. `R` is the request that `auth` gets: write its type, such as Express's own `Request`. */
export interface ExpressOptions<R extends ExpressRequest = ExpressRequest> {
  /**
   * Returns who makes a request, as a middleware in front has found out; undefined or `false` for an anonymous request.
   * Guards find it in `request.auth`. Called once for each request that the app serves. If it throws, or returns anything
   * else, the response is a 500 and no guard runs.
   */
  readonly auth?: (request: R) => FoundAuth
}

/**
 * Returns a middleware of Express 4 and 5 that responds with `app`, under any path, before or after `express.json()`.
 * It calls `next` for paths that the app does not serve, and passes it an error if the body has been read by something
 * that left no copy of it; without `next`, that is a 500, and the console has the error. Throws a `TypeError` if `app` is no app, or if an option makes no sense.
 *
 * ```ts
 * import { createServer } from 'node:http'
 * import { createApp } from 'fieldgate'
 * import { toExpress } from 'fieldgate/express'
 * import { sqliteStore } from 'fieldgate/sqlite'
 *
 * const app = createApp({ store: sqliteStore() })
 * const api = toExpress(app)
 * // In Express: server.use('/api', api)
 * createServer(api).listen(3000)
 * ```
 */
export function toExpress<R extends ExpressRequest = ExpressRequest>(
  app: App,
  options: ExpressOptions<R> = {},
): ExpressListener {
  checkApp(app)
  checkOptions(options, { auth: { test: isFunction, must: 'be a function' } }, 'toExpress')
  const auth = options.auth as ExpressOptions['auth']
  // Express tells middlewares from error handlers by the number of parameters.
  return inTurn<Parameters<ExpressListener>[2]>((incoming, response, next) => {
    respond(app, auth, incoming, response, next).catch((error: unknown) => {
      if (next && !response.headersSent) next(error)
      else fail(response, error)
    })
  })
}

function checkApp(app: unknown): void {
  const { handle, serves, attach } = (app ?? {}) as Readonly<Record<string, unknown>>
  if (typeof handle === 'function' && typeof serves === 'function') return
  throw new TypeError(
    `toExpress(app) takes an app that createApp() returned, but got ${nameOf(app)}. ${adviceFor(app, attach)}`,
  )
}

function nameOf(given: unknown): string {
  if (typeof given === 'function') return 'a function'
  return isObject(given) ? 'another object' : String(given)
}

function adviceFor(app: unknown, attach: unknown): string {
  if (typeof attach === 'function') {
    return `A router is mounted in an app first: app.mount('/path', router)`
  }
  const instead = typeof app === 'function' ? ', not toExpress(app.handle)' : ''
  return `Write toExpress(app)${instead}`
}

async function respond(
  app: App,
  auth: ExpressOptions['auth'],
  incoming: ExpressRequest,
  response: ServerResponse,
  next?: () => void,
): Promise<void> {
  const isServable = next !== undefined || isPlain(incoming)
  const refused = malformed(incoming) ?? (isServable ? undefined : refusal(404, 'Not found.'))
  const place = refused || !next ? mountOf(incoming) : await placeOf(app, incoming, response)
  if (!place) return next?.()
  const { socket } = incoming
  const { target, ...platform } = { ...place, ...(auth && { auth: () => auth(incoming) }) }
  const made =
    refused ?? (await app.handle(requestOf(incoming, response, target), undefined, platform))
  if (hasBody(incoming) && !incoming.complete) await leaveUnread(incoming, response, socket)
  await send(app, response, made)
}

const sendInTurn = outbox()

async function send(app: App, response: ServerResponse, made: Response): Promise<void> {
  // A client may have gone, and another middleware may have responded meanwhile, after a time limit of its own.
  if (response.destroyed || response.headersSent) await made.body?.cancel()
  else sendInTurn(endedPlainly(response), withEarlier(response, made), app.files.logger)
}

interface Place extends Platform {
  /** The URL without the path that the app is mounted under. */
  readonly target: string
}

function mountOf(incoming: ExpressRequest): Place {
  const { url: target = '/' } = incoming
  const baseUrl = baseOf(incoming)
  const basePath = PLAIN_BASE.test(baseUrl) && !hasDotPart(baseUrl) ? baseUrl : ''
  const clientAddress = plainAddress(incoming.ip ?? incoming.socket.remoteAddress)
  return { target, clientAddress, basePath }
}

/** The path of the mount. Express tells it; connect, which Vite and others have, leaves only the URL as it was sent. */
function baseOf({ baseUrl, originalUrl = '', url = '' }: ExpressRequest): string {
  if (baseUrl !== undefined) return baseUrl
  const [whole, own] = [pathOf(originalUrl), pathOf(url)]
  if (whole.endsWith(own)) return whole.slice(0, -own.length)
  return own === '/' ? whole : ''
}

/** A path of a URL as it may stand in a header, without an empty part: `//host` would be another host. */
const PLAIN_BASE = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)+$/

function hasDotPart(path: string): boolean {
  return path.split('/').some((part) => part === '.' || part === '..')
}

/**
 * Whether the paths are those that every reader of URLs sees. Express matches what was sent, the app what a URL makes of
 * it: `/./cities` would pass a guard of Express for `/cities` and be `/cities` for the app. So would `/cities//`, and in
 * Express 4 `/api//cities`: that takes `/api/` from it, and only `originalUrl` shows that there was more.
 */
function isPlain({ originalUrl = '', url = '' }: ExpressRequest): boolean {
  return [originalUrl, url].every((each) => {
    const path = pathOf(each)
    return path === '' || (!path.includes('//') && URL.parse(`http://h${path}`)?.pathname === path)
  })
}

/**
 * Where the app serves the request; undefined if it serves nothing there. URLs of files are in records, so they are
 * those that clients use: they may be of the whole path, such as `/api/uploads`. So may all paths: those of an app with
 * `basePath: '/api'` that is mounted at `/api`.
 */
async function placeOf(
  app: App,
  incoming: ExpressRequest,
  response: ServerResponse,
): Promise<Place | undefined> {
  if (!isPlain(incoming)) return undefined
  const serves = (target: string, platform?: Platform) =>
    app.serves(asked(incoming, response, target), platform)
  const own = mountOf(incoming)
  if (await serves(own.target, own)) return own
  const { originalUrl: target, url } = incoming
  const baseUrl = baseOf(incoming)
  // A URL that a middleware has rewritten is not undone.
  const isWhole = baseUrl !== '' && target !== undefined && target === `${baseUrl}${url}`
  if (!isWhole || !(await serves(target))) return undefined
  return { target, clientAddress: own.clientAddress }
}

/** The request for `target`, whose body has not been read. */
function asked(incoming: ExpressRequest, response: ServerResponse, target: string): Request {
  const request = new ServedRequest(incoming, response)
  const { url: own } = incoming
  // It reads its URL only once, on first use; Express changes it back and forth.
  incoming.url = target
  void request.url
  if (own !== undefined) incoming.url = own
  return request
}

/** The request for `target`; one whose body has been read is made anew from what was made of its body. */
function requestOf(incoming: ExpressRequest, response: ServerResponse, target: string): Request {
  const request = asked(incoming, response, target)
  const isRead = incoming.readableDidRead || incoming.readableEnded
  // Fetch allows these no body.
  const isSafe = ['GET', 'HEAD', 'TRACE'].includes(incoming.method ?? '')
  if (!isRead || isSafe || !hasBody(incoming)) return request
  const headers = new Headers([...request.headers])
  // The parser has undone both.
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) {
    headers.delete(name)
  }
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableEnded) gone.abort()
  })
  const { method, url } = request
  return new Request(url, { method, headers, body: bodyOf(incoming), signal: gone.signal })
}

/** The body that a parser has read, as bytes or text; some read text as JSON. Throws a `TypeError` if it cannot be known. */
function bodyOf(incoming: ExpressRequest): Uint8Array<ArrayBuffer> | string | null {
  const { headers } = incoming
  if (headers['content-length'] === '0') return null
  const body = isBodyOfNobody(incoming) ? undefined : incoming.body
  const type = headers['content-type']?.toLowerCase() ?? 'text/plain'
  if (typeof body === 'string') return type.includes('json') ? textOf(body) : body
  if (body instanceof Uint8Array) return new Uint8Array(body)
  const isJson = ['json', 'text/plain'].some((one) => type.includes(one))
  if (body !== undefined && isJson) return jsonAsRead(body)
  if (isObject(body) && type.startsWith('application/x-www-form-urlencoded')) {
    const pairs = Object.entries(body).flatMap(([name, value]) => pairsOf(name, value))
    return new URLSearchParams(pairs).toString()
  }
  throw new TypeError(
    `fieldgate/express: a middleware in front of toExpress(app) has read the body (${type}) and left no copy of it in request.body. Put it after toExpress(app), or on other paths`,
  )
}

/** A string that a parser left as it was sent, or that it found as the whole of a body. */
function textOf(body: string): string {
  try {
    JSON.parse(body)
    return body
  } catch {
    return JSON.stringify(body)
  }
}

/** Whether the body is the `{}` that parsers of Express 4 put there even if they leave the body to others. */
function isBodyOfNobody(incoming: ExpressRequest & { _body?: unknown; param?: unknown }): boolean {
  const { body, _body, param } = incoming
  const isExpress4 = typeof param === 'function'
  return isExpress4 && _body !== true && isObject(body) && Object.keys(body).length === 0
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** The pairs of a form that `express.urlencoded()` reads as `value`: `a[b]=c` for `{ a: { b: 'c' } }`. */
function pairsOf(name: string, value: unknown): [name: string, value: string][] {
  if (value === undefined || value === null) return []
  if (!isObject(value)) return [[name, String(value)]]
  return Object.entries(value).flatMap(([key, part]) =>
    pairsOf(Array.isArray(value) && !isObject(part) ? name : `${name}[${key}]`, part),
  )
}

/** `response`, whose `end` passes on no callback: express-session would take it for a part of the body. */
function endedPlainly(response: ServerResponse): ServerResponse {
  const { end } = response
  response.end = (...given: unknown[]): ServerResponse => {
    if (typeof given[0] !== 'function') return Reflect.apply(end, response, given)
    response.once('close', given[0] as () => void)
    return Reflect.apply(end, response, [])
  }
  return response
}

/** Headers that earlier middlewares have set for every response, and that a response of its own adds to. */
const ADDED = ['vary', 'set-cookie'] as const

/** `made` with what earlier middlewares have set: writing a header replaces it. */
function withEarlier(response: ServerResponse, made: Response): Response {
  // One that compresses, such as `compression`, would keep events until it had enough of them.
  const hasEvents = made.headers.get('content-type') === 'text/event-stream'
  if (hasEvents) made.headers.append('cache-control', 'no-transform')
  for (const name of ADDED) {
    for (const value of [response.getHeader(name) ?? []].flat()) {
      made.headers.append(name, String(value))
    }
  }
  return made
}
