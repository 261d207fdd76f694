/**
 * `npm run faults -- postgres`: kills primaries under writes, and counts acknowledged writes that are lost.
 *
 * @module
 */

import { part } from '../report.ts'
import { takeover } from './takeover.ts'

/** How soon the promoted standby must serve, in seconds. */
const SOON = 10

/** Rounds of failovers, each on a pair of servers of its own. */
export const postgres = part({
  about: 'kills the primary of a PostgreSQL pair under writes and promotes its standby',
  options: { rounds: 3 },
  async run({ rounds }) {
    const rows = []
    let holds = true
    for (let round = 1; round <= rounds; round += 1) {
      const { acknowledged, lost, refused, secondsToServe } = await takeover()
      holds &&= lost === 0 && secondsToServe < SOON
      rows.push({ round, acknowledged, lost, refused, 's to serve': secondsToServe.toFixed(2) })
    }
    return { rows, holds }
  },
})
