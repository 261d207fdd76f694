import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { expect, it, onTestFinished } from 'vitest'
import { type RestBridge, restBridge } from '../contract/cache/rest-bridge.ts'
import { bundled } from '../http/workerd.ts'
import { withService } from '../services/shared.ts'

async function started(bridge: RestBridge): Promise<string> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: await bundled(new URL('./worker.ts', import.meta.url)),
      compatibilityDate: '2026-11-01',
      compatibilityFlags: ['nodejs_compat'],
      host: '127.0.0.1',
      port: 0,
      d1Databases: ['DB'],
      bindings: { CACHE_URL: bridge.url, CACHE_TOKEN: bridge.token },
    } as Parameters<typeof convertV4MiniflareOptions>[0]),
  )
  onTestFinished(() => miniflare.dispose())
  return (await miniflare.ready).origin
}

await withService('valkey', ({ url }) => {
  it('on workerd reads that are shared are answered though the first of them hangs up', async () => {
    const bridge = await restBridge(url)
    onTestFinished(() => bridge.close())
    const base = await started(bridge)
    const send = (method: string, path: string, json?: unknown, signal?: AbortSignal) =>
      fetch(base + path, {
        method,
        ...(json !== undefined && {
          body: JSON.stringify(json),
          headers: { 'content-type': 'application/json' },
        }),
        ...(signal && { signal }),
      })
    const made = await send('POST', '/books', { title: 'a', price: 0 })
    const { data } = (await made.json()) as { data: { _id: string } }
    for (let price = 1; price <= 5; price += 1) {
      await send('PATCH', `/books/${data._id}`, { price })
      const crowd = Array.from({ length: 60 }, async (_, at) => {
        // Every third one hangs up, the first one too, each a little later than the one before.
        const hangUp = at % 3 === 0 ? AbortSignal.timeout(at) : undefined
        const answer = await send('GET', `/books?round=${price}`, undefined, hangUp).catch(
          () => undefined,
        )
        if (hangUp) return undefined
        if (answer?.status !== 200) throw new Error(`answered ${answer?.status}`)
        return ((await answer.json()) as { data: { price: number }[] }).data[0]?.price
      })
      const shown = (await Promise.all(crowd)).filter((seen) => seen !== undefined)
      expect(shown).toEqual(Array(40).fill(price))
      const after = await send('GET', `/books?round=${price}`)
      expect(after.headers.get('x-cache')).toBe('HIT')
    }
  })
})
