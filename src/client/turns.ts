/**
 * What the tabs of an origin do one after the other, and what they tell each other in time.
 *
 * Storage and channels reach other tabs some time later, but who holds which lock is the same for all tabs at every
 * moment: so an announcement is a lock that is held for a while. Without locks, the clients of one program queue.
 *
 * @module
 */

/** How long an announcement is heard, in milliseconds. */
const HEARD_MS = 10_000

/** Runs `work` alone: among what changes the storage, or with a name, only among tabs that do the same. */
type Take = <T>(work: () => Promise<T>, name?: string) => Promise<T>
/** Announces a text; every tab hears it from the moment that this resolves. */
type Announce = (text: string) => Promise<unknown> | undefined
/** What is announced now. */
type Hear = () => Promise<string[]>

/** The last turn here of each storage. */
const turns = new WeakMap<object, Promise<unknown>>()

/** The turns of those who share a storage. */
export function turnsOf(
  key: string,
  storage: object,
  locks: LockManager | undefined,
): [Take, Announce, Hear] {
  const start = `#${key}#`
  return [
    (work, name) => {
      if (locks) return locks.request(`${start}@${name}`, work) as ReturnType<typeof work>
      if (name) return work()
      const mine = (turns.get(storage) ?? Promise.resolve()).then(work, work)
      turns.set(storage, mine)
      return mine
    },
    (text) =>
      locks &&
      new Promise<void>((announced) => {
        void locks.request(start + text, { mode: 'shared' }, () => {
          announced()
          return new Promise<void>((end) => {
            const timer: unknown = setTimeout(end, HEARD_MS)
            // Node would wait for it instead of ending.
            ;(timer as { unref?(): void }).unref?.()
          })
        })
      }),
    async () => {
      const { held = [] } = (await locks?.query()) ?? {}
      return held.flatMap(({ name = '' }) => name.split(start)[1] ?? [])
    },
  ]
}
