/**
 * What `work` resolves to. If some of it fails, calls `failed` at once, and rejects with the first failure once all has ended:
 * nothing is left running.
 */
export async function settledAll<T>(
  work: readonly Promise<T>[],
  failed: () => void = () => {},
): Promise<T[]> {
  for (const one of work) one.catch(failed)
  await Promise.allSettled(work)
  return Promise.all(work)
}
