/**
 * The result of `call`, unless the signal aborts first: then rejects with its reason at once, and calls `end`, which ends the call
 * itself.
 */
export async function unlessAborted<T>(
  call: Promise<T>,
  signal: AbortSignal | undefined,
  end: (reason: unknown) => void,
): Promise<T> {
  if (!signal) return call
  const aborted = Promise.withResolvers<never>()
  const abort = () => {
    aborted.reject(signal.reason)
    // It rejects too, when it has ended.
    call.catch(() => {})
    end(signal.reason)
  }
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([call, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
