import { type LiveEvent, Reading } from './stream.ts'

/** A record as a stream shows it. */
export type Shown = Record<string, unknown> & { _id: string }

/** Follows a list over broken connections, as a client does. */
export function followed(get: (headers: Record<string, string>) => Promise<Response>) {
  const records = new Map<string, Shown>()
  const seen: Shown[] = []
  let reading: Reading | undefined
  let last: string | undefined
  let isOver = false
  const put = (one: Shown) => {
    seen.push(one)
    records.set(one._id, one)
  }
  const take = ({ event, id, data: sent }: LiveEvent) => {
    const { data } = sent as { data: Shown | Shown[] }
    if (event === 'records') records.clear()
    if (event === 'unset') records.delete((data as Shown)._id)
    else for (const one of [data].flat()) put(one)
    last = id
  }
  const run = async () => {
    while (!isOver) {
      const headers = { accept: 'text/event-stream', ...(last && { 'last-event-id': last }) }
      reading = new Reading(await get(headers))
      if (isOver) await reading.cancel()
      for (let next = await reading.next(); next; next = await reading.next()) take(next)
    }
  }
  const running = run()
  return {
    records,
    seen,
    cut: async () => void (await reading?.cancel()),
    async end() {
      isOver = true
      await reading?.cancel()
      await running
    },
  }
}
