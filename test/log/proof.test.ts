import { describe, expect, it } from 'vitest'
import { fileOfTest } from './proof/file.ts'
import { appAt, faultsOf, follow, startOf, write } from './proof/world.ts'

describe('readers of the log', () => {
  it('miss nothing, get nothing twice, and each record in its order, while eight write', async () => {
    const place = { sqlite: fileOfTest() }
    const apps = await Promise.all([appAt(place), appAt(place)])
    const [app, other] = apps
    const start = await startOf(app)
    let isOver = false
    const readers = [
      follow(app, start, () => isOver, { limit: 100, patience: 2 }),
      follow(other, start, () => isOver, { limit: 3, patience: 2 }),
    ]
    await Promise.all(
      apps.flatMap((one, at) => [1, 2, 3, 4].map((n) => write(one, n + 10 * at, 12))),
    )
    isOver = true
    const [first = [], second = []] = await Promise.all(readers)
    expect(first.length).toBeGreaterThan(60)
    expect(second.map(({ id }) => id)).toEqual(first.map(({ id }) => id))
    expect(await faultsOf(app, first)).toEqual([])
    for (const one of apps) await one.close()
  })
})
