/**
 * Medians in columns.
 *
 * @module
 */

import { addedOf, type Sample, slowdownOf } from './sample.ts'

/** The samples of one server, one for each round. */
export interface Row {
  readonly work: string
  readonly connections: number
  readonly server: string
  readonly samples: readonly Sample[]
  /** The limit's samples in the same rounds. */
  readonly limit: readonly Sample[]
}

const WIDTHS = [18, 3, 19, 9, 8, 10, 10, 8, 6]

/** The table's head; the third column holds servers, or what else is compared. */
export function header(servers = 'server'): string {
  return line(['work', 'c', servers, 'req/s', 'ratio', 'p50 ms', 'p99 ms', 'CPU µs', 'MiB'])
}

/** One line of the table. */
export function lineOf({ work, connections, server, samples, limit }: Row): string {
  const of = (pick: (sample: Sample) => number) => median(samples.map(pick))
  return line([
    work,
    String(connections),
    server,
    significant(of((sample) => sample.requestsPerSecond)),
    ratioOf(samples, limit).toFixed(2),
    of((sample) => sample.p50Ms).toFixed(2),
    of((sample) => sample.p99Ms).toFixed(2),
    significant(of((sample) => sample.cpuMicroseconds)),
    of((sample) => sample.memoryMiB).toFixed(0),
    ...burdenOf(samples),
  ])
}

/** What a burden does to the reads, after the columns. */
function burdenOf(samples: readonly Sample[]): string[] {
  const slowdown = median(samples.map(slowdownOf))
  const added = median(samples.map(addedOf))
  const others = median(samples.map(({ othersPerSecond = Number.NaN }) => othersPerSecond))
  return [
    ...(Number.isNaN(slowdown)
      ? []
      : [`p50 × ${slowdown.toFixed(2)}, ${significant(others)} others/s`]),
    ...(Number.isNaN(added) ? [] : [`CPU + ${added.toFixed(1)} µs`]),
  ]
}

/** The median of the rounds' ratios of requests per second. */
export function ratioOf(samples: readonly Sample[], base: readonly Sample[]): number {
  return median(
    samples.map(
      (sample, round) => sample.requestsPerSecond / (base[round]?.requestsPerSecond ?? Number.NaN),
    ),
  )
}

/** The middle one of the values that are known. */
export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function significant(value: number): string {
  return value < 100 ? value.toFixed(1) : value.toFixed(0)
}

function line(cells: readonly string[]): string {
  return inColumns(cells, WIDTHS, [0, 2])
}

/** Cells side by side, those of the columns `left` at the left of theirs. */
export function inColumns(
  cells: readonly string[],
  widths: readonly number[],
  left: readonly number[],
): string {
  return cells
    .map((cell, at) => {
      const width = widths[at] ?? 0
      return left.includes(at) ? cell.padEnd(width) : cell.padStart(width)
    })
    .join(' ')
}
