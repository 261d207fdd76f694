import { expect, test } from 'vitest'
import { withService } from '../../services/shared.ts'
import { differ, report } from './run.ts'
import { openBackends } from './stores.ts'

const REQUESTS = 5000

await withService('mongo', ({ url }) => {
  test(`${REQUESTS} random requests to random models get the same bytes from SQLite, D1 and MongoDB`, async () => {
    const backends = await openBackends(url)
    try {
      const { statuses, disagreements } = await differ(backends, {
        seed: 20_261_122,
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
})
