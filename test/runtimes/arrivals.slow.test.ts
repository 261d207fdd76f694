import { describe, expect, it } from 'vitest'
import { Arrivals } from '../../adapters/runtimes/arrivals.ts'

/** Keeps the processor busy, as SQLite does. */
function busy(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A server whose requests each take `ms`; `log` says in which order they were begun, or refused. */
function server(ms: number, longestMs: number) {
  const arrivals = new Arrivals(longestMs)
  const log: string[] = []
  const ask = async (name: string) => {
    const isRefused = await arrivals.arrive()
    log.push(isRefused ? `${name} refused` : name)
    if (!isRefused) busy(ms)
  }
  return {
    log,
    ask,
    /** All of them arrive in one turn, each once the one before has done what it does at once. */
    async burst(names: readonly string[]) {
      const all: Promise<void>[] = []
      for (const name of names) {
        all.push(ask(name))
        for (let step = 0; step < 5; step += 1) await Promise.resolve()
      }
      return { ended: Promise.all(all) }
    },
  }
}

describe('requests that arrive', () => {
  it('one after the other are begun at once', async () => {
    const arrivals = new Arrivals()
    for (let asked = 0; asked < 50; asked += 1) {
      expect(arrivals.arrive()).toBe(false)
      await nextTurn()
      await nextTurn()
    }
  })

  it('in a burst all have their turn, in their order, and the event loop turns meanwhile', async () => {
    const { burst, log } = server(1, 500)
    let turns = 0
    const names = Array.from({ length: 100 }, (_, at) => `${at}`)
    const { ended } = await burst(names)
    let isOver = false
    void ended.then(() => {
      isOver = true
    })
    while (!isOver) {
      turns += 1
      await nextTurn()
    }
    expect(log).toEqual(names)
    // 2 ms a turn.
    expect(turns).toBeGreaterThan(30)
  })

  it('when the first has waited for the longest time are refused at once, until those that wait are begun', async () => {
    const { ask, burst, log } = server(60, 100)
    const { ended } = await burst(['a', 'b', 'c', 'd'])
    // The first two take the longest time and more; the fourth still waits then.
    while (log.length < 3) await nextTurn()
    await ask('late')
    expect(log).toContain('late refused')
    await ended
    await ask('after')
    expect(log.filter((name) => !name.includes('refused'))).toEqual(['a', 'b', 'c', 'd', 'after'])
  })

  it('at four times the rate that they are begun wait for little more than the longest time of work', async () => {
    const arrivals = new Arrivals(250)
    /** How many others were begun while each waited: a busy machine begins fewer of them in the same time. */
    const waits: number[] = []
    let refused = 0
    const ask = async () => {
      const begunBefore = waits.length
      if (await arrivals.arrive()) {
        refused += 1
        return
      }
      waits.push(waits.length - begunBefore)
      // Each takes a millisecond, in which four others arrive.
      busy(1)
      if (waits.length < 1000) for (let count = 0; count < 4; count += 1) void ask()
    }
    void ask()
    while (waits.length < 1000 || refused === 0) await nextTurn()
    // If only the wait of the first counted, a thousand would wait before the last.
    expect(Math.max(...waits)).toBeLessThan(750)
  })
})
