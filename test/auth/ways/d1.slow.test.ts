import { afterAll, expect, it } from 'vitest'
import { startWorker } from '../workers.ts'

const workerd = await startWorker(new URL('worker.ts', import.meta.url))
afterAll(() => workerd.dispose())

const COUNT = Number(process.env.SEQUENCES ?? 2000)
const EACH = 250

it('the same on D1', { timeout: 600_000 }, async () => {
  for (let first = 0; first < COUNT; first += EACH) {
    const body = JSON.stringify({ count: Math.min(EACH, COUNT - first), seed: 300_001 + first })
    const answer = await workerd.dispatchFetch('http://worker/', { method: 'POST', body })
    expect(await answer.json()).toBeNull()
  }
})
