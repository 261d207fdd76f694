/**
 * A deadline for code that is not ours.
 *
 * @module
 */

/** What `work` gives; rejects with what `late` gives once `milliseconds` are over, and calls `afterwards` then. */
export async function within<T>(
  milliseconds: number,
  work: () => Promise<T>,
  late: () => Error,
  afterwards?: (reason: Error) => void,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const reason = late()
      // First, so that what `afterwards` ends cannot reject with a reason of its own.
      reject(reason)
      afterwards?.(reason)
    }, milliseconds)
  })
  try {
    return await Promise.race([work(), deadline])
  } finally {
    clearTimeout(timer)
  }
}
