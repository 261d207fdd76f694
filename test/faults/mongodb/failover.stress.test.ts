import { describe, expect, it } from 'vitest'
import { startReplicaSet } from '../../services/replica-set.ts'
import { withService } from '../../services/shared.ts'
import { missing, takeover, testCommands } from './takeover.ts'

await withService('mongod', () => {
  describe('a failover', () => {
    it('loses no acknowledged write when the primary is killed', { timeout: 300_000 }, async () => {
      const set = await startReplicaSet(3, {
        settings: { electionTimeoutMillis: 1500, heartbeatIntervalMillis: 300 },
        parameters: [testCommands],
      })
      try {
        const { acknowledged } = await takeover(set)
        expect(acknowledged.size).toBeGreaterThan(1000)
        expect(await missing(set, acknowledged)).toBe(0)
      } finally {
        await set.stop()
      }
    })
  })
})
