/**
 * Closing a server on runtimes that close idle connections at once, including those with a request on its way: clients
 * are told to leave first.
 */

/** Tells clients to leave. */
export interface Leaving {
  /** `response`, with `Connection: close` once clients have to leave. */
  last(response: Response): Response
  /**
   * From now on every response closes its connection; resolves after `leaveMs`, in which clients may send one more
   * request.
   */
  begin(leaveMs: number): Promise<void>
}

/** No client has to leave yet. */
export function leaving(): Leaving {
  let begun = false
  return {
    last: (response) => (begun ? closing(response) : response),
    async begin(leaveMs) {
      begun = true
      await passed(leaveMs)
      // A late timer runs before data that has arrived meanwhile is read.
      await passed(0)
    },
  }
}

/** A copy, because the headers of a response may be immutable. */
function closing({ body, status, statusText, headers }: Response): Response {
  const response = new Response(body, { status, statusText, headers })
  response.headers.set('Connection', 'close')
  return response
}

function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
