/**
 * Deadlines for code that is not ours.
 *
 * @module
 */

/** The outcome of `work`, or `late()` thrown after `milliseconds`. */
export async function within<T>(
  milliseconds: number,
  work: () => Promise<T>,
  late: () => Error,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), milliseconds)
  })
  try {
    return await Promise.race([work(), deadline])
  } finally {
    clearTimeout(timer)
  }
}
