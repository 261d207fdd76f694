/** The observer port: sees an app's requests and its store calls, for metrics, traces and logs. */

/** A request, as observers see it. */
export interface ObservedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly requestId: string
  /** The pattern of the route that matched, e.g. `/cities/:id`; empty if none matched. Known once there is a response. */
  readonly route: string
  /** The trace that the request belongs to, 32 hexadecimal digits. Set by an observer that creates spans. */
  traceId?: string
}

/** A call of a store. */
export interface StoreCall {
  /** The store's name, e.g. `sqlite`. */
  readonly store: string
  /** The collection that is called; for `write`, those of all its steps with blanks in between. */
  readonly collection: string
  /** The store method that is called, e.g. `find`. */
  readonly operation: string
}

/**
 * Sees requests and store calls. Each function must run what it is given exactly once, pass on its outcome unchanged,
 * and throw nothing itself.
 */
export interface Observer {
  /** Runs around a whole request, guards included; `respond` never rejects. */
  request(request: ObservedRequest, respond: () => Promise<Response>): Promise<Response>
  /** Runs around each store call. Without it, the store is called directly. */
  storeCall?<T>(call: StoreCall, run: () => Promise<T>): Promise<T>
}

const METHODS: ReadonlySet<string> = new Set(
  'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' '),
)

/** The method as metrics and traces name it. Non-standard methods become `_OTHER`, so that clients cannot invent names. */
export function methodName(method: string): string {
  return METHODS.has(method) ? method : '_OTHER'
}
