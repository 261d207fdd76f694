import { headerOf, setHeader } from '../http/response/respond.ts'
import { checkOptions, each, type Rule } from '../model/option-rules.ts'
import { describeGuard } from '../records/engine/guards.ts'
import type { Guard } from '../records/engine/route.ts'

/** A header's value; false leaves the header out. */
type Value = string | false

/** Options of `secureHeaders`. */
export interface SecureHeadersOptions {
  /**
   * `Content-Security-Policy` of responses that are not HTML. HTML gets its `frame-ancestors` alone. Default
   * `default-src 'none'; frame-ancestors 'none'`.
   */
  readonly contentSecurityPolicy?: Value
  /** `Cross-Origin-Resource-Policy`. Default `same-site`. */
  readonly crossOriginResourcePolicy?: Value
  /** `Referrer-Policy`. Default `no-referrer`. */
  readonly referrerPolicy?: Value
  /** `Strict-Transport-Security`, for requests over HTTPS. Default `max-age=31536000`, which is one year. */
  readonly strictTransportSecurity?: Value
  /** `X-Content-Type-Options`. Default `nosniff`. */
  readonly contentTypeOptions?: Value
}

const value: Rule = {
  must: 'be a header value or false',
  test: (given) =>
    given === false || (typeof given === 'string' && /^[\x20-\x7e]+$/.test(given.trim())),
}

const RULES: Readonly<Record<keyof SecureHeadersOptions, Rule>> = {
  ...each(value, 'contentSecurityPolicy', 'crossOriginResourcePolicy', 'referrerPolicy'),
  ...each(value, 'strictTransportSecurity', 'contentTypeOptions'),
}

/**
 * Sets security headers on every response that does not have them already, failures included. Throws a `TypeError`
 * naming the option if an option makes no sense.
 *
 * ```ts
 * app.use(secureHeaders())
 * ```
 */
export function secureHeaders(options: SecureHeadersOptions = {}): Guard {
  checkOptions(options, RULES, 'secureHeaders')
  const {
    contentSecurityPolicy: policy = "default-src 'none'; frame-ancestors 'none'",
    crossOriginResourcePolicy = 'same-site',
    referrerPolicy = 'no-referrer',
    strictTransportSecurity = 'max-age=31536000',
    contentTypeOptions = 'nosniff',
  } = options
  const always = entriesOf({
    'cross-origin-resource-policy': crossOriginResourcePolicy,
    'referrer-policy': referrerPolicy,
    'x-content-type-options': contentTypeOptions,
  })
  const forData = entriesOf({ 'content-security-policy': policy })
  // A page needs its own scripts and styles, but the policy on who may frame it concerns it too.
  const [, framing] = /(?:^|;)\s*(frame-ancestors[^;]*)/.exec(policy || '') ?? []
  const forPages = entriesOf({ 'content-security-policy': framing?.trim() ?? false })
  const overHttps = entriesOf({ 'strict-transport-security': strictTransportSecurity })

  const guard: Guard = function secureHeadersGuard(request, context) {
    const transport = isHttps(request) ? overHttps : []
    context.onResponse((response) => {
      const ofType = isHtml(response) ? forPages : forData
      // A 304 does not say whether it is of a page, and browsers take over what it says.
      const own = response.status === 304 ? [] : ofType
      const headers = [...always, ...own, ...transport]
      try {
        return withHeaders(response, headers)
      } catch {
        // A response from `fetch` or `Response.redirect` has headers that cannot be changed.
        return withHeaders(new Response(response.body, response), headers)
      }
    })
  }
  return Object.assign(describeGuard(guard, 'anyone', { refusals: [] }), { early: true })
}

type Entries = readonly (readonly [name: string, value: string])[]

function entriesOf(headers: Readonly<Record<string, Value>>): Entries {
  return Object.entries(headers).flatMap(([name, text]) => (text ? [[name, text] as const] : []))
}

/** `response` with those of `headers` that it does not have. */
function withHeaders(response: Response, headers: Entries): Response {
  for (const [name, text] of headers) {
    if (headerOf(response, name) === null) setHeader(response, name, text)
  }
  return response
}

function isHtml(response: Response): boolean {
  // A response of fieldgate's own is JSON.
  if ('plainHeaders' in response) return false
  return /^text\/html\b/i.test(response.headers.get('content-type') ?? '')
}

/** Behind a proxy that ends TLS, only the header says so. Forged, it does no harm: browsers ignore HSTS over HTTP. */
function isHttps({ url, headers }: Request): boolean {
  return /^https:/i.test(url) || /^https\b/i.test(headers.get('x-forwarded-proto') ?? '')
}
