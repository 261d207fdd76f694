/**
 * Clients that ask for something else while a server is measured.
 *
 * @module
 */

/** How many there are, each of which asks again as soon as it is answered. */
const CLIENTS = 2

/** What `measured` gives while they ask for `url`, and how often they were answered meanwhile. */
export async function besideOthers<T>(
  url: string,
  headers: Readonly<Record<string, string>> | undefined,
  measured: () => Promise<T>,
): Promise<{ seen: T; answers: number }> {
  let [isOver, answers] = [false, 0]
  const ask = async (): Promise<void> => {
    const response = await fetch(url, { ...(headers && { headers }) })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`${url}: ${response.status}`)
  }
  const client = async (): Promise<void> => {
    while (!isOver) {
      await ask()
      answers += 1
    }
  }
  await ask()
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))
  // Whoever fails is heard of once the load is over.
  clients.catch(() => undefined)
  const seen = await measured()
  isOver = true
  const before = answers
  await clients
  return { seen, answers: before }
}
