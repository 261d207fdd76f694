/** Guards and handlers: the functions that you write. */

import type { $ZodObject, $ZodType, input, output } from 'zod/v4/core'
import type { BodyLimits } from '../../http/body/body.ts'
import type { HttpError } from '../../http/errors/errors.ts'
import type { ApiRequest, RequestContext } from '../../http/request/request.ts'
import type { RecordStore } from './record-store.ts'

/** The second argument of a guard or handler, after the request. */
export interface Context extends RequestContext {
  /** The app's records, for code that reads and writes them outside the routes. */
  readonly store: RecordStore
  /**
   * Calls `hook` with the response, of a success or a failure, before the app adds its headers. A Response that it
   * returns is sent instead. The last hook is called first.
   */
  onResponse(hook: ResponseHook): void
}

/**
 * Sees the response of a request. If `isLate` is true, it is the 503 of a request that takes too long: the code that
 * serves it still runs, and the hook is called again with what that returns, which is not sent.
 */
export type ResponseHook = (
  response: Response,
  isLate: boolean,
) => Response | undefined | void | Promise<Response | undefined | void>

/**
 * Runs before a route. Return a Response to end the request, or throw an `HttpError` to refuse it; return nothing to
 * let it pass.
 */
export interface Guard {
  (
    request: ApiRequest,
    context: Context,
  ): Response | undefined | void | Promise<Response | undefined | void>
  /**
   * If true, `app.use` puts it before all else that may refuse a request: start-up, probes, the limit on concurrent
   * requests. For guards that set headers on every response. It must be quick: `requestTimeoutMs` counts only after it.
   */
  readonly early?: boolean
  /**
   * If true, it runs after all other guards of the route that the request is for: those of the app, the router and the
   * route. For guards that act for the caller whom the others have found; a batch runs it once, for all operations.
   */
  readonly late?: boolean
  /**
   * If true, it runs once for a live list or a file, when the client asks for it. All other guards are asked again while
   * that goes on. For guards that count requests.
   */
  readonly once?: boolean
}

/**
 * Responds to a route: with a Response, or with a value, which is sent as `data` in the envelope. A handler that returns
 * nothing leaves the request to the next route that matches, unless that is wider: `/featured` never leaves it to `/:id`.
 * If no handler responds it is a 404.
 */
export type Handler = (request: ApiRequest, context: Context) => unknown

/** The request of a described route: what is described is parsed. */
export type DescribedRequest<P, Q, B> = Omit<
  ApiRequest,
  Named<'params', P> | Named<'query', Q> | (B extends $ZodType ? 'body' | 'json' : never)
> &
  (P extends $ZodType ? { readonly params: output<P> } : unknown) &
  (Q extends $ZodType ? { readonly query: output<Q> } : unknown) &
  (B extends $ZodType ? { readonly body: output<B>; json(): Promise<output<B>> } : unknown)

type Named<Name, S> = S extends $ZodType ? Name : never

/** What a handler may return whose response is described by `R`. */
export type Sendable<R> = Response | (R extends $ZodType ? input<R> : unknown) | undefined | void

/** The handler of a described route. */
export type DescribedHandler<P, Q, B, V> = (
  request: DescribedRequest<P, Q, B>,
  context: Context,
) => V | Promise<V>

type Schema<Z extends $ZodType = $ZodType> = Z | undefined

/** What an extra route takes and returns, for its validation, the typed client and the OpenAPI document. */
export interface RouteDescription<
  P extends Schema<$ZodObject> = Schema<$ZodObject>,
  Q extends Schema<$ZodObject> = Schema<$ZodObject>,
  B extends Schema = Schema,
  R extends Schema = Schema,
> {
  /** What the route does, in one line. */
  readonly summary?: string
  /**
   * The parameters of the path, as in `z.object({ id: z.string() })`. Strings are cast by the field's type. Other values
   * are a 400 with `fields`; the handler finds the parsed ones in `request.params`.
   */
  readonly params?: P
  /**
   * The parameters of the URL, as in `z.object({ limit: z.number().max(50).default(10) })`. Strings are cast by the
   * field's type. Other values are a 400 with `fields`; the handler finds the parsed ones in `request.query`.
   */
  readonly query?: Q
  /**
   * The JSON of the body. Other values are a 400 with `fields`, and anything but JSON is a 415; the handler finds the
   * parsed value in `request.body`, and `await request.json()` resolves to it.
   */
  readonly body?: B
  /**
   * What the handler returns: a value, which is sent as the schema returns it, or the JSON of a successful Response.
   * What does not fit is a 500, and the log says why.
   */
  readonly response?: R
}

/** Failures in another form than the envelope. */
export interface OwnFailures {
  /** What the schema is called in documents. */
  readonly name: string
  /** The JSON Schema of their bodies. */
  readonly schema: Readonly<Record<string, unknown>>
  /** The refusals that are sent so. */
  refusals(): readonly HttpError[]
  /** The limits of the JSON body that is read. */
  readonly limits: BodyLimits
}

/** One route, its path relative to the mount. */
export interface Route {
  readonly method: string
  /** `''` for the mount itself, `/:id` for a record. */
  readonly path: string
  readonly guards: readonly Guard[]
  readonly handler: Handler
  /** Whether its handler may return nothing, and so leave requests to other routes. */
  readonly mayPass?: boolean
  /** The guards that all routes of the router share. They are among `guards`, and also run for OPTIONS and 405. */
  readonly shared?: readonly Guard[]
  /** Whether its handler runs late guards itself, with `lateGuards`. */
  readonly runsLate?: boolean
  /** Methods for which the path does not exist (404), although it has others; any other unknown method is a 405. */
  readonly absent?: readonly string[]
  /** Whether no document describes it: a page and its files, or the document itself. */
  readonly isUnlisted?: boolean
  /** What it takes and returns, if it is described. */
  readonly about?: RouteDescription
  /** The JSON body that it takes, for descriptions alone: its handler checks it. */
  readonly body?: $ZodType
  /** The header fields of its responses, for descriptions alone. */
  readonly headers?: readonly string[]
  /** The failures that its handler sends in a form of its own, for descriptions alone. */
  readonly failures?: OwnFailures
  /** What agents may do with records by the tools that it serves, for descriptions of an app. */
  readonly agents?: readonly string[]
  /** For a QUERY route: whether a POST with `X-HTTP-Method-Override: QUERY` is a request for it. */
  readonly viaPost?: boolean
  /** For a QUERY route: the media types that it accepts, for the `Accept-Query` header of OPTIONS. */
  readonly acceptQuery?: string
}

/** The whole path of a route on `mount`, as descriptions of an app show it. */
export function patternOf(mount: string, { path }: Pick<Route, 'path'>): string {
  return `${mount}${path}`.replace(/^\/\//, '/') || '/'
}
