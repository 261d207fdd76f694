import { expect, it } from 'vitest'
import { z } from 'zod'
import { createRouter, defineModel } from '../../src/index.ts'
import { service } from '../records/service.ts'

const Long = defineModel('TurnsLong', {
  fields: { text: z.string() },
  output: ({ text }) => ({ length: text.length }),
})
const Chosen = defineModel('TurnsChosen', {
  fields: { post: z.object({ text: z.string(), more: z.string() }) },
})

it('a list of large records is read in turns, so that other requests have theirs', async () => {
  const { app, send } = service()
  app.mount('/long', createRouter({ model: Long, middlewares: [] }))
  const onGet = () => ({ select: 'post.text' })
  app.mount('/chosen', createRouter({ model: Chosen, middlewares: [], onGet }))
  const text = 'x'.repeat(100_000)
  for (let at = 0; at < 20; at += 1) {
    await app.store.collection(Long).insert({ text })
    await app.store.collection(Chosen).insert({ post: { text, more: '' } })
  }
  let turns = 0
  let running = true
  const count = (): void => {
    turns += 1
    if (running) setImmediate(count)
  }
  count()
  for (const path of ['/long', '/chosen']) {
    turns = 0
    const { records } = await send('GET', `${path}?page=1&pageSize=20`)
    expect(records).toHaveLength(20)
    // Two million characters, with a turn after each quarter of a million.
    expect(turns, path).toBeGreaterThan(5)
  }
  running = false
})
