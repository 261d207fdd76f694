import { expect, test } from 'vitest'
import { beforeSeeds, runs } from '../../runs.ts'
import { withService } from '../../services/shared.ts'
import { differ, report } from './run.ts'
import { openBackends } from './stores.ts'

const REQUESTS = runs(1000)

function compared(mongo: string, postgres: string): void {
  test(`${REQUESTS} random requests to random models get the same bytes from SQLite, D1 and MongoDB, and the same values from PostgreSQL`, async () => {
    const backends = await openBackends(mongo, postgres)
    try {
      const { statuses, disagreements } = await differ(backends, {
        seed: beforeSeeds + 20_261_122,
        requests: REQUESTS,
      })
      expect(disagreements.map(report).join('\n')).toBe('')
      // They are worth sending: enough of them get through to the store.
      for (const accepted of ['GET 200', 'QUERY 200', 'POST 201', 'PATCH 200', 'DELETE 200']) {
        expect(statuses[accepted], accepted).toBeGreaterThan(REQUESTS / 200)
      }
    } finally {
      await backends.close()
    }
  }, 300_000)
}

await withService('mongo', async (mongo) => {
  await withService('postgres', ({ url }) => compared(mongo.url, url))
})
