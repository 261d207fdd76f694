/**
 * The end of a server on runtimes that close idle connections at once, together with the requests that are on their way
 * there: before that, clients are told to leave.
 *
 * @module
 */

/** What tells clients to leave. */
export interface Leaving {
  /** `response`, with `Connection: close` once clients have to leave. */
  last(response: Response): Response
  /** From now on every response ends its connection; resolves when clients have had `leaveMs` to ask once more. */
  begin(leaveMs: number): Promise<void>
}

/** Nobody has to leave yet. */
export function leaving(): Leaving {
  let begun = false
  return {
    last: (response) => (begun ? closing(response) : response),
    async begin(leaveMs) {
      begun = true
      await passed(leaveMs)
      // A timer that is late runs before what has come meanwhile is read.
      await passed(0)
    },
  }
}

/** A copy, as the headers of a response may be closed to changes. */
function closing({ body, status, statusText, headers }: Response): Response {
  const response = new Response(body, { status, statusText, headers })
  response.headers.set('Connection', 'close')
  return response
}

function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
