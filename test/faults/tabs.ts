/**
 * `npm run faults -- tabs`: twenty tabs of one user in Chromium, at the expiry of their access token.
 *
 * @module
 */

import { openTabs, type Round } from '../client/tabs.ts'
import { part } from './report.ts'

/** Every tenth round closes the tab that refreshes, in the middle of it. */
const KILL_EVERY = 10

/** The part. */
export const tabs = part({
  about: 'tabs of one user whose access token expires',
  options: { rounds: 200, tabs: 20 },
  async run({ rounds, tabs: count }) {
    const tabs = await openTabs(count)
    const sums = { plain: newSum(), closed: newSum() }
    try {
      for (let index = 1; index <= rounds; index += 1) {
        const isKill = index % KILL_EVERY === 0
        add(isKill ? sums.closed : sums.plain, await (isKill ? tabs.roundWithKill() : tabs.round()))
      }
    } finally {
      await tabs.stop()
    }
    const rows = Object.entries(sums).map(([round, sum]) => ({ round, ...sum }))
    const { plain, closed } = sums
    const holds = [plain, closed].every((sum) => sum.refused === 0 && sum.signedOut === 0)
    const once = plain.refreshes === plain.rounds && closed.refreshes === 2 * closed.rounds
    return { rows, holds: holds && once }
  },
})

interface Sum {
  rounds: number
  refreshes: number
  /** Calls that got no data. */
  refused: number
  signedOut: number
}

function newSum(): Sum {
  return { rounds: 0, refreshes: 0, refused: 0, signedOut: 0 }
}

function add(sum: Sum, { statuses, refreshes, signedOut }: Round): void {
  sum.rounds += 1
  sum.refreshes += refreshes
  sum.refused += statuses.filter((status) => status !== 200).length
  sum.signedOut = Math.max(sum.signedOut, signedOut)
}
