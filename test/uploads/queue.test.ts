/**
 * Images that wait for each other: one at a time, clients by turns, and nobody for longer than five seconds.
 */

import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ImageOptimizer } from '../../src/index.ts'
import { ImageQueue } from '../../src/uploads/optimise.ts'
import { strippedBytes } from '../../src/uploads/strip/stripped.ts'
import { album } from './album.ts'
import { form } from './png.ts'
import { SECRET, tagged } from './tagged.ts'

/** Tasks that end when they are told to. */
function tasks() {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  return {
    begun,
    task: (name: string) => () => {
      begun.push(name)
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
    },
    async end(name: string) {
      ends.get(name)?.()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

describe('images that wait for each other', () => {
  it('are made smaller one at a time, their clients by turns', async () => {
    const queue = new ImageQueue()
    const { begun, task, end } = tasks()
    const names = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']
    const runs = names.map((name) => queue.run(name[0], 60_000, task(name)))
    const order = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']
    for (const [index, name] of order.entries()) {
      expect(begun).toEqual(order.slice(0, index + 1))
      await end(name)
    }
    expect(await Promise.all(runs)).toEqual(names)
  })

  it('go on after one that fails, and after one that is late', async () => {
    const queue = new ImageQueue()
    await expect(queue.run(1, 60_000, () => Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    )
    const { begun, task, end } = tasks()
    const late = queue.run(1, 200, task('late'))
    const waits = queue.run(2, 200, task('waits'))
    const patient = queue.run(3, 60_000, task('patient'))
    await expect(late).rejects.toThrow('too long')
    await expect(waits).rejects.toThrow('too long')
    // What was begun is still at work, and holds its memory.
    expect(begun).toEqual(['late'])
    await end('late')
    expect(begun).toEqual(['late', 'patient'])
    await end('patient')
    expect(await patient).toBe('patient')
  })

  it('are told how much time is left', async () => {
    const queue = new ImageQueue()
    const first = queue.run(1, 60_000, () => wait(300))
    const left = queue.run(1, 10_000, async (ms) => ms)
    await first
    expect(await left).toBeLessThan(9800)
  })
})

describe('an album whose optimiser is busy', () => {
  it('stores in five seconds what does not get its turn, without metadata', async () => {
    let release = () => {}
    const busy = new Promise<void>((resolve) => {
      release = resolve
    })
    const images: ImageOptimizer = {
      async optimize(bytes) {
        await busy
        return bytes
      },
    }
    const served = album({
      upload: { imgOptimizations: 'low', acl: 'public-read' },
      app: { images },
    })
    const image = await tagged('jpeg')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
    const { setTimeout: standing } = globalThis
    onTestFinished(() => {
      globalThis.setTimeout = standing
      vi.useRealTimers()
    })
    const limits: unknown[] = []
    const noted = (work: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) => {
      limits.push(ms)
      return standing(work, ms, ...given)
    }
    globalThis.setTimeout = noted as typeof setTimeout
    const answers = Promise.all(
      ['a', 'b', 'c'].map((title) => served.upload('POST', '/photos', form({ title, image }))),
    )
    await expect.poll(() => limits.filter((ms) => ms === 5000).length).toBe(3)
    vi.advanceTimersByTime(5000)
    const made = await answers
    release()
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201])
    for (const { record } of made) {
      const read = await served.app.handle(new Request(`http://localhost${record.image}`))
      const bytes = Buffer.from(await read.arrayBuffer())
      expect(bytes.includes(SECRET)).toBe(false)
      expect(bytes.equals(await strippedBytes(image, 'image/jpeg'))).toBe(true)
    }
  })
})
