/** Several pieces of work at the same time. */

/** What `work` resolves to. If some of it fails, rejects with the first failure, once all has ended: nothing is left running. */
export async function settledAll<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work)
  return Promise.all(work)
}
