/** CORS: which other origins may call the API from a browser, and what they may read. */

import { unavailable } from '../http/errors/outages.ts'
import { emptyResponse } from '../http/response/respond.ts'
import * as rule from '../model/option-rules.ts'
import { checkOptions, type Fail, failAs, isNames, type Rule } from '../model/option-rules.ts'
import { withTimeout } from '../ports/promises/with-timeout.ts'
import { describeGuard } from '../records/engine/guards.ts'
import type { Context, Guard } from '../records/engine/route.ts'

/** Returns whether `origin` may call the API. `origin` is `'null'` for sandboxed pages and files. */
export type OriginCheck = (origin: string, request: Request) => boolean | Promise<boolean>

/** Options of `cors`. */
export interface CorsOptions {
  /** The origins that may call the API, e.g. `['https://app.example.com']`; `'*'` for all; or a function. */
  readonly origins: readonly string[] | '*' | OriginCheck
  /** Whether browsers may send cookies and read the responses. Not with `'*'`. Default false. */
  readonly credentials?: boolean
  /** Seconds that browsers may keep the result of a preflight. Default 600; Chromium keeps it for at most 7,200. */
  readonly maxAge?: number
  /** Request headers of your own that pages may send, beyond those that fieldgate reads. */
  readonly allowedHeaders?: readonly string[]
  /** Response headers of your own that pages may read, beyond those that fieldgate sends. */
  readonly exposedHeaders?: readonly string[]
}

const fail: Fail = failAs('cors')

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, QUERY'

/** The request headers that fieldgate reads, without those that browsers always let pages send. */
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-Modified-Since',
  'If-None-Match',
  'If-Range',
  'If-Unmodified-Since',
  'Last-Event-ID',
  'X-API-Key',
  'X-HTTP-Method-Override',
  'X-Img-Optimizations',
  'X-Request-Id',
  'traceparent',
  'tracestate',
]

/** The response headers that fieldgate sends, without those that browsers always let pages read. */
const RESPONSE_HEADERS = [
  'Accept-Query',
  'Accept-Ranges',
  'Allow',
  'Change-Id',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Idempotency-Replayed',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Cache',
  'X-Request-Id',
]

const names: Rule = {
  must: 'be a list of header names',
  test: (value) => isNames(value) && value.every((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name)),
}

const RULES: Readonly<Record<keyof CorsOptions, Rule>> = {
  origins: {
    must: "be a list of origins such as 'https://app.example.com', '*' or a function",
    test: (value) => value === '*' || isNames(value) || rule.callable.test(value),
  },
  credentials: rule.flag,
  maxAge: rule.wholeNumber('be a whole number of seconds'),
  allowedHeaders: names,
  exposedHeaders: names,
}

/**
 * Lets pages of other origins call the API: sets the CORS headers on every response, failures included, and responds to
 * preflights. Requests of other origins are not refused; browsers keep the response from the page. Throws a `TypeError`
 * naming the option if an option makes no sense.
 *
 * ```ts
 * app.use(cors({ origins: ['https://app.example.com'] }))
 * ```
 */
export function cors(options: CorsOptions): Guard {
  checkOptions(options ?? {}, RULES, fail)
  const {
    origins,
    credentials = false,
    maxAge = 600,
    allowedHeaders = [],
    exposedHeaders = [],
  } = options ?? {}
  if (origins === undefined) fail(`'origins' is required, e.g. ['https://app.example.com']`)
  if (origins === '*' && credentials) {
    fail(`'credentials' can't be combined with origins: '*'. List the origins instead.`)
  }
  if (Array.isArray(origins)) for (const origin of origins) checkOrigin(origin)
  const isAllowed = checkOf(origins)
  const allowed = [...REQUEST_HEADERS, ...allowedHeaders].join(', ')
  const exposed = [...RESPONSE_HEADERS, ...exposedHeaders].join(', ')

  async function corsGuard(request: Request, context: Context): Promise<Response | undefined> {
    const origin = request.headers.get('origin')
    // Without an Origin too: a cache must not give this response to a page of another origin.
    if (origins !== '*') context.headers.append('Vary', 'Origin')
    if (origin === null || (await isAllowed(origin, request)) !== true) return undefined
    context.headers.set('Access-Control-Allow-Origin', origins === '*' ? '*' : origin)
    if (credentials) context.headers.set('Access-Control-Allow-Credentials', 'true')
    if (request.method === 'OPTIONS' && request.headers.has('access-control-request-method')) {
      return emptyResponse(204, {
        'Access-Control-Allow-Methods': METHODS,
        'Access-Control-Allow-Headers': allowed,
        'Access-Control-Max-Age': String(maxAge),
      })
    }
    context.headers.set('Access-Control-Expose-Headers', exposed)
    return undefined
  }
  return Object.assign(describeGuard(corsGuard, 'anyone', { refusals: [] }), { early: true })
}

/** An early guard has no time limit but its own. */
const TIMEOUT_MS = 5000

function checkOf(origins: CorsOptions['origins']): OriginCheck {
  if (typeof origins === 'function') {
    const late = () => unavailable(new Error(`cors: 'origins' took longer than ${TIMEOUT_MS} ms`))
    return (origin, request) => withTimeout(TIMEOUT_MS, async () => origins(origin, request), late)
  }
  const listed = new Set(origins)
  return (origin) => origins === '*' || listed.has(origin)
}

/** A browser sends an origin in this form only, so any other would never match. */
function checkOrigin(origin: string): void {
  if (origin === '*') fail(`'origins' lists '*'. Write origins: '*' to allow all origins.`)
  if (origin === 'null') return
  if (origin.includes('*')) {
    fail(
      `'origins' lists '${origin}', which no browser sends. Write a function, such as (origin) => /^https:\\/\\/[\\w-]+\\.example\\.com$/.test(origin).`,
    )
  }
  const url = URL.canParse(origin) ? new URL(origin) : undefined
  // The origin of a URL with a scheme of its own, such as an app's, is 'null'.
  const meant = url && (url.origin === 'null' ? `${url.protocol}//${url.host}` : url.origin)
  if (origin === meant) return
  const hint = meant === undefined ? `Write e.g. 'https://app.example.com'.` : `Write '${meant}'.`
  fail(`'origins' lists '${origin}', which isn't an origin. ${hint}`)
}
