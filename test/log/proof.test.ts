import { describe, expect, it } from 'vitest'
import { fileOfTest } from './proof/file.ts'
import { appAt, faultsOf, follow, startOf, write, writeLast } from './proof/world.ts'

describe('readers of the log', () => {
  it('miss nothing, get nothing twice, and each record in its order, while eight write', async () => {
    const place = { sqlite: fileOfTest() }
    const apps = await Promise.all([appAt(place), appAt(place)])
    const [app, other] = apps
    const start = await startOf(app)
    const last = Promise.withResolvers<string>()
    const readers = [follow(app, start, last.promise, 100), follow(other, start, last.promise, 3)]
    await Promise.all(
      apps.flatMap((one, at) => [1, 2, 3, 4].map((n) => write(one, n + 10 * at, 12))),
    )
    last.resolve(await writeLast(app))
    const [first = [], second = []] = await Promise.all(readers)
    expect(first.length).toBeGreaterThan(60)
    expect(second.map(({ id }) => id)).toEqual(first.map(({ id }) => id))
    expect(await faultsOf(app, first)).toEqual([])
    for (const one of apps) await one.close()
  })
})
