/**
 * The observer port: what sees the requests of an app and its calls of the store, for metrics, traces and logs.
 *
 * @module
 */

/** A request, as observers see it. */
export interface ObservedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly requestId: string
  /** The pattern of the route that matched, as `/cities/:id`; empty while none has. Known once there is a response. */
  readonly route: string
  /** The trace that the request belongs to, 32 hexadecimal digits. Set by an observer that makes spans. */
  traceId?: string
}

/** A call of a store. */
export interface StoreCall {
  /** The store's name, as `sqlite`. */
  readonly store: string
  readonly collection: string
  /** What the store is asked to do, named as in its port: `find`. */
  readonly operation: string
}

/**
 * Sees requests and calls of the store. Each function runs what it is given exactly once, gives its outcome on unchanged, and
 * throws nothing of its own.
 */
export interface Observer {
  /** Runs around a whole request, guards included; `respond` never rejects. */
  request(request: ObservedRequest, respond: () => Promise<Response>): Promise<Response>
  /** Runs around each call of the store. Without it the store is called directly. */
  storeCall?<T>(call: StoreCall, run: () => Promise<T>): Promise<T>
}

const METHODS: ReadonlySet<string> = new Set(
  'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' '),
)

/** The method as metrics and traces name it: one that no standard knows is `_OTHER`, so that clients cannot invent names. */
export function methodName(method: string): string {
  return METHODS.has(method) ? method : '_OTHER'
}
