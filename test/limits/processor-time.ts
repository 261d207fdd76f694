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
