/**
 * Processor time, for tests of what work may cost: what others do on the machine is no time of ours.
 *
 * @module
 */

/** The processor time of this process since now, all its threads together, in milliseconds. */
export function processorClock(): () => number {
  const start = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  }
}

/** A list that takes the machine of our figures 5 ms to read from JSON, to copy, and to write again. */
const list = JSON.stringify(
  Array.from({ length: 6600 }, (_, at) => ({ a: `${'q'.repeat(40)}${at}`, b: at, c: [at] })),
)
const LIST_MS = 5
const ROUNDS = 20

/**
 * How many times as long as on the machine of our figures work takes this thread now, at least 1. It compares what a
 * server does with values: the clock of a processor, its memory, and whoever shares it make the same work differ by half.
 */
export function slowness(): number {
  const start = process.threadCpuUsage()
  for (let round = 0; round < ROUNDS; round += 1) {
    const values = JSON.parse(list) as object[]
    JSON.stringify(values.map((value) => ({ ...value, d: round })))
  }
  const { user, system } = process.threadCpuUsage(start)
  return Math.max(1, (user + system) / 1000 / ROUNDS / LIST_MS)
}
