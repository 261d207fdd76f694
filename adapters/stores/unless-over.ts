/** Calls that their callers do not wait for to the end. */

/** When a call is over for its caller. */
export interface Over {
  readonly signal?: AbortSignal | undefined
  /** After so many milliseconds, with the error that `late` returns. */
  readonly ms?: number | undefined
  late?(): Error
}

/**
 * The result of `call`, unless the signal aborts or the time is over first: then rejects with the reason at once, and calls
 * `end`, which ends the call itself.
 */
export async function unlessOver<T>(
  call: Promise<T>,
  { signal, ms, late }: Over,
  end: (reason: unknown) => void,
): Promise<T> {
  if (!signal && ms === undefined) return call
  const over = Promise.withResolvers<never>()
  const stop = (reason: unknown) => {
    over.reject(reason)
    // It rejects too, when it has ended.
    call.catch(() => {})
    end(reason)
  }
  const abort = () => stop(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  const timer = ms === undefined ? undefined : setTimeout(() => stop(late?.()), ms)
  try {
    return await Promise.race([call, over.promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
