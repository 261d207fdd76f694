import { describe, expect, it } from 'vitest'
import { eventLoopLag } from '../../adapters/runtimes/lag.ts'

/** An event loop by a clock of the test's own. */
function loop() {
  let time = 1000
  const isBehind = eventLoopLag(() => time)
  return {
    /** A turn in which requests arrive, one each millisecond: how many of them are to be refused. */
    async turn(ms: number) {
      let refused = 0
      for (let at = 0; at <= ms; at += 1) {
        if (isBehind()) refused += 1
        time += 1
      }
      // The timer that ends the turn was set before this one.
      await new Promise((resolve) => setTimeout(resolve, 1))
      return refused
    },
    rest(ms: number) {
      time += ms
    },
  }
}

describe('an event loop', () => {
  it('that keeps up refuses nothing, however many requests come', async () => {
    const { turn } = loop()
    for (let turns = 0; turns < 200; turns += 1) expect(await turn(20)).toBe(0)
  })

  it('takes a burst of requests that is soon over', async () => {
    const { turn, rest } = loop()
    for (let bursts = 0; bursts < 5; bursts += 1) {
      expect(await turn(300)).toBe(0)
      rest(1000)
    }
  })

  it('that stays behind answers what it can in each turn, and refuses the rest', async () => {
    const { turn } = loop()
    for (let turns = 0; turns < 5; turns += 1) expect(await turn(99)).toBe(0)
    for (let turns = 0; turns < 20; turns += 1) expect(await turn(99)).toBeGreaterThan(40)
  })

  it('refuses nothing more once a turn was short, or nothing has come for a while', async () => {
    const { turn, rest } = loop()
    const overload = async () => {
      for (let turns = 0; turns < 10; turns += 1) await turn(99)
      expect(await turn(99)).toBeGreaterThan(0)
    }
    await overload()
    await turn(10)
    expect(await turn(200)).toBe(0)
    await overload()
    rest(100)
    expect(await turn(200)).toBe(0)
  })
})
