import { expect, it } from 'vitest'
import { withService } from '../../services/shared.ts'
import { takeover } from './takeover.ts'

await withService('postgres', () => {
  it('a failover loses no acknowledged write, and the store serves again within a minute of the promotion', async () => {
    const { lost, refused, secondsToServe } = await takeover()
    expect(lost).toBe(0)
    expect(refused).toBeGreaterThan(0)
    expect(secondsToServe).toBeLessThan(60)
  }, 300_000)
})
