/**
 * What rounds of two commits say: a change, none, or nothing because of the noise.
 *
 * @module
 */

/** A change that counts. */
const CHANGE = 1.05
/** A change that is not worth a word. */
const TRIFLE = 1.01
/** How often the interval may miss the truth. */
const MISSES = 0.05
/** How many times as many rounds a row gets at most if the first ones leave doubts, or say that it is slower. */
const PATIENCE = 3

/** The median of the rounds' ratios, and where the true one lies 19 times of 20. */
export interface Estimate {
  readonly ratio: number
  readonly low: number
  readonly high: number
}

/** What is said of a row. */
export interface Verdict extends Estimate {
  readonly text: string
  /** Whether it is slower by 5 % or more, beyond its noise. */
  readonly isSlower: boolean
  /** Whether more rounds would say the same. */
  readonly isClear: boolean
}

/**
 * The interval is the sign test's, which asks nothing of the distribution: a few rounds that something disturbed don't
 * move it.
 */
export function estimateOf(ratios: readonly number[]): Estimate {
  const sorted = ratios.toSorted((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const last = sorted.length - 1
  const middle = Math.sqrt(at(Math.floor(last / 2)) * at(Math.ceil(last / 2)))
  const left = leftOut(sorted.length)
  return { ratio: middle, low: at(left), high: at(last - left) }
}

/** How many values at each end of `count` the interval leaves out. */
function leftOut(count: number): number {
  let [left, chance, sum] = [0, 0.5 ** count, 0.5 ** count]
  while (left < count / 2) {
    chance *= (count - left) / (left + 1)
    sum += chance
    if (2 * sum > MISSES) break
    left += 1
  }
  return left
}

/** The verdict on the ratios of processor time, one for each round: that of this tree divided by that of the other commit. */
export function verdictOf(ratios: readonly number[]): Verdict {
  const estimate = estimateOf(ratios)
  const { ratio, low, high } = estimate
  const isApart = (low > 1 && ratio > TRIFLE) || (high < 1 && ratio < 1 / TRIFLE)
  const isWithin = low > 1 / CHANGE && high < CHANGE
  const noise = Math.max(high / ratio, ratio / low) - 1
  const noisy = `noise (± ${percent(noise)})`
  if (!isApart) {
    return { ...estimate, text: isWithin ? 'same' : noisy, isSlower: false, isClear: isWithin }
  }
  const change = `${ratio > 1 ? 'slower' : 'faster'} by ${percent(Math.abs(ratio - 1))}`
  return {
    ...estimate,
    text: noise > CHANGE - 1 ? `${change}, ${noisy}` : change,
    isSlower: low > 1 && ratio >= CHANGE,
    isClear: high < CHANGE && noise < CHANGE - 1,
  }
}

/** Measures rounds until the verdict on their ratios is clear: `rounds` of them, or up to three times as many. */
export async function untilClear<Round>(
  rounds: number,
  measure: (round: number) => Promise<Round>,
  ratioOf: (round: Round) => number,
): Promise<{ readonly seen: readonly Round[]; readonly verdict: Verdict }> {
  const seen: Round[] = []
  for (;;) {
    for (let left = rounds; left > 0; left -= 1) seen.push(await measure(seen.length))
    const verdict = verdictOf(seen.map(ratioOf))
    if (verdict.isClear || seen.length >= PATIENCE * rounds) return { seen, verdict }
  }
}

function percent(part: number): string {
  return `${(part * 100).toFixed(0)} %`
}
