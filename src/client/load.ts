/** What is loaded when it is first used, and may be out of reach by then, or no longer there once a page has been replaced. */

import { ClientError } from './sending/results.ts'

/** The parts of the client that not every page needs. Rejects with a `ClientError` if they cannot be loaded. */
export async function later(): Promise<typeof import('./later.ts')> {
  try {
    return await import('./later.ts')
  } catch (error) {
    throw new ClientError({ status: 0, message: (error as Error).message })
  }
}

/** A call that resolves to a failure, and tells it who follows a list, where it rejects with a `ClientError`. */
export function settled(call: (...given: never[]) => unknown): (...given: never[]) => unknown {
  return (...given) => {
    const failed = (error: unknown) => {
      if (!(error instanceof ClientError)) throw error
      ;(given[1] as { onError?(error: ClientError): void } | undefined)?.onError?.(error)
      return { ok: false, error }
    }
    const result = call(...given) as Promise<unknown>
    // `all` and `pages` give no promise, and throw.
    return result.catch?.(failed) ?? result
  }
}
