/**
 * What a chart shows: panels of values with their spread.
 *
 * @module
 */

/** One server's values in one row. */
export interface Lane {
  readonly server: string
  readonly median: number
  readonly least: number
  readonly most: number
  /** The median in words, beside the plot. */
  readonly text: string
}

/** The servers under one heading. */
export interface Group {
  readonly heading: string
  readonly lanes: readonly Lane[]
}

/** Groups that share a scale. */
export interface Panel {
  readonly title: string
  /** What the values beside the plot are. */
  readonly unit: string
  /** A logarithmic scale has no zero; a linear one begins with it. */
  readonly scale: 'log' | 'linear'
  readonly groups: readonly Group[]
}

/** The scale of a panel: its marks, and the place of a value between 0 and 1. */
export interface Scale {
  readonly marks: readonly number[]
  place(value: number): number
}

/** The scale that holds every value of the panel. */
export function scaleOf({ scale, groups }: Panel): Scale {
  const values = groups.flatMap(({ lanes }) => lanes.flatMap(({ least, most }) => [least, most]))
  return scale === 'log' ? logarithmic(values) : linear(values)
}

const STEPS = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000,
]

/** Most marks that are apart from each other. */
const MARKS = 7

function logarithmic(values: readonly number[]): Scale {
  const [least, most] = [Math.min(1, ...values), Math.max(1, ...values)]
  const from = STEPS.findLastIndex((step) => step <= least)
  const to = STEPS.findIndex((step) => step >= most)
  const within = STEPS.slice(Math.max(from, 0), to < 0 ? undefined : to + 1)
  const [low, high] = [Math.log(within[0] ?? 1), Math.log(within.at(-1) ?? 1)]
  const tens = within.filter((step) => Number.isInteger(Math.log10(step)))
  return {
    marks: within.length <= MARKS ? within : tens,
    place: (value) => clamped((Math.log(value) - low) / (high - low || 1)),
  }
}

function linear(values: readonly number[]): Scale {
  const most = Math.max(0, ...values)
  const least = Math.min(0, ...values)
  const step = STEPS.find((each) => (most - least) / each <= MARKS - 1) ?? 5000
  const [from, to] = [Math.floor(least / step), Math.ceil(most / step)]
  const marks = Array.from({ length: to - from + 1 }, (_, at) => (from + at) * step)
  const [low = 0, high = 1] = [marks[0], marks.at(-1)]
  return { marks, place: (value) => clamped((value - low) / (high - low || 1)) }
}

function clamped(place: number): number {
  return Math.min(1, Math.max(0, place))
}
