import { expect, it } from 'vitest'
import { Loop } from '../../src/background/loop.ts'

it('what does not end is told, then left, so that an app closes all the same', async () => {
  const errors: unknown[] = []
  const logger = { error: (...entry: unknown[]) => errors.push(entry) }
  const host = { now: Date.now, logger } as unknown as ConstructorParameters<typeof Loop>[0]
  const told = Promise.withResolvers<void>()
  const loop = new Loop(host, "Consumer 'mailer'", (pace) => {
    pace.signal.addEventListener('abort', () => told.resolve())
    return new Promise(() => {})
  })
  loop.start()
  await loop.close(5)
  await told.promise
  const about = { work: "Consumer 'mailer'", waitedMs: 10 }
  expect(errors).toEqual([['background work was left, because it does not end', about]])
})
