import { expect, it } from 'vitest'
import { Receivers, Resting } from '../../src/background/changes/receivers.ts'

/** Receivers, and deliveries to them that end when told, after so many milliseconds. */
function receivers(slots: number) {
  const clock = { at: 0 }
  const own = new Receivers(() => clock.at, slots)
  const begin = (to: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const ended = own
      .try(to, () => promise)
      .then(
        () => 'done',
        (error: unknown) => (error instanceof Resting ? error.until : 'failed'),
      )
    const end = (ms: number, error?: Error) => {
      clock.at += ms
      if (error) reject(error)
      else resolve()
      return ended
    }
    return { ended, end }
  }
  return { begin }
}

it('receivers that take long share half of the slots, until they do not', async () => {
  const { begin } = receivers(4)
  for (const to of ['a', 'b']) expect(await begin(to).end(6000)).toBe('done')
  const [one, two] = [begin('a'), begin('b')]
  expect(await begin('a').ended).toBe(12_000 + 5000)
  expect(await begin('other').end(1)).toBe('done')
  expect(await one.end(1)).toBe('done')
  const [three, four] = [begin('a'), begin('a')]
  for (const left of [two, three, four]) expect(await left.end(1)).toBe('done')
})

it('so do those whose failures take long', async () => {
  const { begin } = receivers(2)
  expect(await begin('a').end(6000, new Error('no response'))).toBe('failed')
  const one = begin('a')
  expect(await begin('a').ended).toBe(6000 + 5000)
  expect(await begin('other').end(1)).toBe('done')
  expect(await one.end(1, new Error('refused'))).toBe('failed')
  for (const another of [begin('a'), begin('a')]) expect(await another.end(1)).toBe('done')
})

it('what rests has its turn after those before it, however often it has rested', async () => {
  const { begin } = receivers(4)
  await begin('a').end(6000)
  for (const _ of ['one', 'two']) begin('a')
  expect(await begin('a').ended).toBe(11_000)
  expect(await begin('a').ended).toBe(13_500)
  await begin('other').end(60_000)
  expect(await begin('a').ended).toBe(71_000)
})
