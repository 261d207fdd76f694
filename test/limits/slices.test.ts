import { expect, it } from 'vitest'
import { Slices } from '../../src/ports/slices.ts'

function busy(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

it('parts of one work share a slice, so that others have their turn after each', async () => {
  const slices = new Slices()
  const order: string[] = []
  let turn = 0
  const ticks = setInterval(() => {
    turn += 1
  }, 1)
  const part = async (name: string) => {
    for (let step = 0; step < 3; step += 1) {
      order.push(`${name}${step} ${turn}`)
      busy(10)
      if (slices.isOver(1000)) await slices.next()
    }
  }
  await Promise.all(['a', 'b', 'c', 'd'].map(part))
  clearInterval(ticks)
  expect(order).toHaveLength(12)
  // Each part begins at once; after that no turn has more than one step of 10 ms.
  const turns = order.slice(4).map((entry) => entry.split(' ')[1])
  expect(new Set(turns).size).toBe(8)
})
