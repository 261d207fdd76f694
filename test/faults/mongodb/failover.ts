/**
 * `node -C fieldgate-source test/faults/mongodb/failover.ts [rounds]`: kills the primary of a three-member replica set under writes, again
 * and again, and counts acknowledged writes that are lost. About 20 seconds a round, most of it the election.
 *
 * @module
 */

import { startReplicaSet } from '../../services/replica-set.ts'
import { missing, takeover, testCommands } from './takeover.ts'

const rounds = Number(process.argv[2] ?? 3)
const set = await startReplicaSet(3, { parameters: [testCommands] })
try {
  const acknowledged = new Set<string>()
  for (let round = 1; round <= rounds; round++) {
    const trial = await takeover(set)
    for (const id of trial.acknowledged) acknowledged.add(id)
    const seconds = trial.secondsWithoutPrimary.toFixed(1)
    console.log(
      `round ${round}: ${trial.acknowledged.size} acknowledged, ${trial.refused} refused, ${seconds} s without a primary`,
    )
  }
  const lost = await missing(set, acknowledged)
  console.log(`${acknowledged.size} acknowledged, ${lost} lost`)
  if (lost > 0) process.exitCode = 1
} finally {
  await set.stop()
}
