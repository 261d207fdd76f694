/** The result of `work`, which fieldgate does not control. Once `milliseconds` have passed, rejects with what `late` returns and calls `afterwards`. */
export async function withTimeout<T>(
  milliseconds: number,
  work: () => Promise<T>,
  late: () => Error,
  afterwards?: (reason: Error) => void,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const reason = late()
      // Reject first: what `afterwards` ends may otherwise reject with another reason.
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
