import { describe, expect, it } from 'vitest'
import { estimateOf, untilClear, verdictOf } from '../../bench/against/verdict.ts'

/** Numbers between 0 and 1 that look random, the same ones each time. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
}

/** Rounds of a machine whose ratios spread by `noise`; one in ten is disturbed, by up to a fifth. */
function machine(random: () => number, change: number, noise: number): () => Promise<number> {
  return async () => {
    const normal = Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
    const disturbed = random() < 0.1 ? (random() - 0.5) * 0.4 : 0
    return (1 + change) * Math.exp(normal * noise + disturbed)
  }
}

/** How many of 1,000 comparisons end as `is` says. */
async function of1000(
  { change, noise }: { change: number; noise: number },
  is: (verdict: ReturnType<typeof verdictOf>) => boolean,
): Promise<number> {
  const random = randomFrom(1)
  let count = 0
  for (let run = 0; run < 1000; run += 1) {
    const measure = machine(random, change, noise)
    const { verdict } = await untilClear(6, measure, (ratio) => ratio)
    if (is(verdict)) count += 1
  }
  return count
}

describe('a comparison of two commits', () => {
  it('seldom calls equal ones slower, on a quiet, a busy and a very busy machine', async () => {
    for (const noise of [0.01, 0.03, 0.1]) {
      const alarms = await of1000({ change: 0, noise }, ({ isSlower }) => isSlower)
      expect(alarms, `noise of ${noise}`).toBeLessThanOrEqual(noise === 0.1 ? 15 : 1)
    }
  })

  it('calls equal ones the same where the machine is quiet enough', async () => {
    const isSame = ({ text }: { text: string }) => text === 'same'
    expect(await of1000({ change: 0, noise: 0.01 }, isSame)).toBeGreaterThan(950)
    expect(await of1000({ change: 0, noise: 0.03 }, isSame)).toBeGreaterThan(850)
  })

  it('finds a planted regression', async () => {
    const isSlower = ({ isSlower }: { isSlower: boolean }) => isSlower
    expect(await of1000({ change: 0.07, noise: 0.01 }, isSlower)).toBeGreaterThan(990)
    expect(await of1000({ change: 0.1, noise: 0.03 }, isSlower)).toBeGreaterThan(990)
    expect(await of1000({ change: 0.25, noise: 0.1 }, isSlower)).toBeGreaterThan(900)
  })

  it('does not fail for a regression below 5 %, and tells of it', async () => {
    const seen = await of1000({ change: 0.03, noise: 0.01 }, ({ isSlower }) => isSlower)
    expect(seen).toBeLessThanOrEqual(5)
    const told = await of1000({ change: 0.03, noise: 0.01 }, ({ text }) => /slower by/.test(text))
    expect(told).toBeGreaterThan(900)
  })

  it('says that it knows nothing where the noise is larger than 5 %', async () => {
    const says = await of1000({ change: 0, noise: 0.2 }, ({ text }) => text.includes('noise (±'))
    expect(says).toBeGreaterThan(950)
  })

  it('measures three times as many rounds before it fails', async () => {
    const { seen, verdict } = await untilClear(
      5,
      async (round) => (round < 5 ? 1.08 : 1),
      (ratio) => ratio,
    )
    expect(seen).toHaveLength(15)
    expect(verdict.isSlower).toBe(false)
    const quick = await untilClear(
      5,
      async () => 1,
      (ratio) => ratio,
    )
    expect(quick.seen).toHaveLength(5)
  })

  it('says how much', () => {
    const around = (ratio: number) => [0.99, 1, 1, 1, 1.01].map((spread) => ratio * spread)
    expect(verdictOf(around(1.07)).text).toBe('slower by 7 %')
    expect(verdictOf(around(0.96)).text).toBe('faster by 4 %')
    expect(verdictOf(around(1)).text).toBe('same')
    expect(verdictOf([0.9, 1, 1, 1, 1.1]).text).toBe('noise (± 11 %)')
    expect(verdictOf([1.05, 1.2, 1.2, 1.2, 1.3]).text).toBe('slower by 20 %, noise (± 14 %)')
  })

  it('has an interval that holds the true ratio 19 times of 20', () => {
    const random = randomFrom(2)
    for (const rounds of [6, 10, 15]) {
      let missed = 0
      for (let run = 0; run < 2000; run += 1) {
        const ratios = Array.from({ length: rounds }, () => Math.exp(random() - 0.5))
        const { low, high } = estimateOf(ratios)
        if (low > 1 || high < 1) missed += 1
      }
      expect(missed / 2000).toBeLessThan(0.06)
    }
  })
})
