import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { compress } from '../../../src/guards/index.ts'
import { createRouter, defineModel } from '../../../src/index.ts'
import { service } from '../service.ts'

const Page = defineModel('GuardedPage', { fields: { title: z.string() }, changes: true })

async function pages(cache = false) {
  const { app, send } = service({ store: sqliteStore(), cache: memoryCache() })
  app.mount(
    '/pages',
    createRouter({
      model: Page,
      middlewares: [],
      allowedFields: ['title'],
      history: true,
      access: { restore: true },
      ...(cache && { cache: true }),
    }),
  )
  const { _id } = await app.store.collection(Page).insert({ title: 'a' })
  const path = `/pages/${_id}`
  const etag = (await send('GET', path)).headers.get('etag') ?? ''
  const [{ id: changeId } = {}] = (await send('GET', `${path}/history`)).records
  const ask = async (method: string, headers: Record<string, string>, at = path) => {
    const json = { PATCH: { title: 'b' }, POST: { changeId }, QUERY: {} }[method]
    const answer = await send(method, at, { headers, ...(json && { json }) })
    return [answer.status, answer.body.error]
  }
  return { app, ask, etag, path }
}

describe('Preconditions (RFC 9110, 13.1)', () => {
  const changed = [412, 'The record has changed since it was read.']
  const excluded = [412, 'If-None-Match names the version that the record has.']

  it.each([false, true])('If-Match decides about reads (cached: %s)', async (cache) => {
    const { ask, etag } = await pages(cache)
    for (const _ of [1, 2]) {
      expect(await ask('GET', { 'If-Match': '"other"' })).toEqual(changed)
      expect(await ask('GET', { 'If-Match': `W/${etag}` })).toEqual(changed)
      expect(await ask('GET', { 'If-Match': `"other", ${etag}` })).toEqual([200, undefined])
      expect(await ask('GET', { 'If-Match': '*' })).toEqual([200, undefined])
    }
    expect(await ask('GET', { 'If-Match': '"other"' }, '/pages')).toEqual(changed)
    expect(await ask('QUERY', { 'If-Match': '"other"' }, '/pages')).toEqual(changed)
  })

  it.each(['-gzip', '-br', '-zstd'])(
    'If-Match takes a tag to which a proxy that compresses has added %s',
    async (coding) => {
      const { ask, etag } = await pages()
      const added = etag.replace(/"$/, `${coding}"`)
      expect(await ask('GET', { 'If-Match': added })).toEqual([200, undefined])
      expect(await ask('PATCH', { 'If-Match': `W/${added}` })).toEqual(changed)
      expect(await ask('PATCH', { 'If-Match': `"other${coding}"` })).toEqual(changed)
      expect(await ask('PATCH', { 'If-Match': `"other", ${added}` })).toEqual([200, undefined])
      expect(await ask('DELETE', { 'If-Match': added })).toEqual(changed)
    },
  )

  it('If-None-Match decides about writes, which change nothing where it is false', async () => {
    const { ask, etag, path } = await pages()
    const restore = `${path}/restore`
    for (const tags of ['*', etag, `W/${etag}`, `"other", ${etag}`]) {
      const headers = { 'If-None-Match': tags }
      expect(await ask('PATCH', headers)).toEqual(excluded)
      expect(await ask('DELETE', headers)).toEqual(excluded)
      expect(await ask('POST', headers, restore)).toEqual(excluded)
      expect(await ask('GET', { 'If-Match': etag })).toEqual([200, undefined])
    }
    expect(await ask('PATCH', { 'If-None-Match': '"other"', 'If-Match': etag })).toEqual([
      200,
      undefined,
    ])
    expect(await ask('DELETE', { 'If-None-Match': '"other"' })).toEqual([200, undefined])
    expect(await ask('DELETE', { 'If-None-Match': '*' })).toEqual([404, 'Entry not found.'])
  })
})

describe('HEAD', () => {
  it.each([false, true])(
    'ends the stream that a GET would send (with a hook: %s)',
    async (hooked) => {
      const { app } = service({ store: sqliteStore() })
      let open = 0
      if (hooked) app.use((_, context) => void context.onResponse(() => undefined))
      app.get('/ticks', () => {
        const body = new ReadableStream({
          start: () => {
            open += 1
          },
          cancel: () => {
            open -= 1
          },
        })
        return new Response(body, { headers: { 'X-Of': 'GET' } })
      })
      const ask = (method: string) => app.handle(new Request('http://localhost/ticks', { method }))
      const head = await ask('HEAD')
      expect([head.headers.get('x-of'), head.body, open]).toEqual(['GET', null, 0])
      const get = await ask('GET')
      expect(open).toBe(1)
      await get.body?.cancel()
    },
  )

  it('of an export has the headers of its GET, those of guards too', async () => {
    const { app } = service({ store: sqliteStore() })
    app.use(compress())
    app.mount('/pages', createRouter({ model: Page, middlewares: [], exportLimit: 10 }))
    await app.store.collection(Page).insert({ title: 'a'.repeat(5000) })
    const headers = { accept: 'text/csv', 'accept-encoding': 'gzip' }
    const of = async (method: string) => {
      const answer = await app.handle(new Request('http://localhost/pages', { method, headers }))
      await answer.body?.cancel()
      return [...answer.headers].filter(([name]) => name !== 'x-request-id')
    }
    expect(await of('HEAD')).toEqual(await of('GET'))
    expect(await of('HEAD')).toContainEqual(['content-encoding', 'gzip'])
  })
})
