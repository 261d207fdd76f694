import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  type AppParts,
  appWith,
  atomic,
  caching,
  exports,
  history,
  live,
} from '../../../src/app/index.ts'
import { createRouter, defineModel, type RouterOptions } from '../../../src/index.ts'

const Note = defineModel('PartNote', { fields: { text: z.string() }, changes: true })

type Options = Partial<RouterOptions<{ text: string }>>

function notes(parts: readonly AppParts[], options: Options) {
  const app = appWith(...parts)({ store: sqliteStore() })
  onTestFinished(() => app.close())
  app.mount(
    '/notes',
    createRouter({ ...options, model: Note, allowedFields: ['text'], middlewares: [] } as never),
  )
  const ask = (path: string, accept = 'application/json') =>
    app.handle(new Request(`http://localhost${path}`, { headers: { Accept: accept } }))
  return { app, ask }
}

describe('an app of the parts that it names', () => {
  it.each([
    [{ live: true }, 'live'],
    [{ history: true }, 'history'],
    [{ exportLimit: 10 }, 'exports'],
    [{ cache: true }, 'caching'],
  ] as const)('does not start with %j without the part %s', (options, part) => {
    const message = `Router '/notes': '${Object.keys(options)[0]}' needs its code in this bundle. Write appWith(${part}), both of fieldgate/app`
    expect(() => notes([], options)).toThrow(message)
  })

  it('does not start with a cache without its part, and has no atomic steps without theirs', async () => {
    const create = appWith(live)
    expect(() => create({ store: sqliteStore(), cache: memoryCache() })).toThrow(
      "createApp: 'cache' needs its code in this bundle. Write appWith(caching)",
    )
    const { app } = notes([], {})
    await expect(app.store.atomic(async () => 1)).rejects.toThrow('appWith(atomic)')
  })

  it('has what the parts are for', async () => {
    const cache = { store: memoryCache() }
    const { app, ask } = notes([live, history, exports, caching, atomic], {
      ...{ live: true, history: true, exportLimit: 10, cache },
    })
    const { _id } = await app.store.atomic(async (tx) => {
      return tx.collection(Note).insert({ text: 'one' })
    })
    expect(await (await ask('/notes', 'text/csv')).text()).toContain('one')
    expect(await (await ask(`/notes/${_id}/history`)).text()).toContain('create')
    const seen = [await ask('/notes'), await ask('/notes')]
    expect(seen.map(({ headers }) => headers.get('x-cache'))).toEqual(['MISS', 'HIT'])
    const stream = await ask('/notes', 'text/event-stream')
    expect(stream.headers.get('content-type')).toBe('text/event-stream')
    await stream.body?.cancel()
  })

  it('sends JSON where it has no part for what the client prefers', async () => {
    const { ask } = notes([], {})
    for (const accept of ['text/event-stream', 'text/csv']) {
      const response = await ask('/notes', accept)
      expect([accept, response.status, (await response.json()) as object]).toMatchObject([
        accept,
        200,
        { success: true, data: [] },
      ])
    }
  })
})
