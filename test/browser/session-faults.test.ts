import type { BrowserContext, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { served } from '../client/app.ts'
import type { Exposed } from '../client/page.ts'
import { bundled, PAGE } from '../client/tabs.ts'
import { type Chromium, startChromium } from '../services/chromium.ts'
import { withService } from '../services/shared.ts'

declare const exposed: Exposed

/** Longer than an access token of the app lives, in milliseconds. */
const LIFETIME_MS = 70_000
const REFRESH = '/auth/token/refresh'
const isMe = (url: string) => new URL(url).pathname === '/auth/me'
const WORKER = `
let isOff = false
addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('message', ({ data, ports: [port] }) => { isOff = data; port.postMessage('') })
addEventListener('fetch', (event) => {
  event.respondWith(isOff ? new Response('<p>Offline</p>', { status: 503 }) : fetch(event.request))
})`
const html = (text: string) => new Response(text, { headers: { 'Content-Type': 'text/html' } })
const script = (text: string) =>
  new Response(text, { headers: { 'Content-Type': 'text/javascript' } })

await withService('chromium', () => {
  let server: Awaited<ReturnType<typeof served>>
  let chromium: Chromium
  /** What stands before the app, or nothing. */
  let proxy: ((request: Request) => Response | undefined) | undefined
  beforeAll(async () => {
    server = await served()
    chromium = await startChromium()
    const page = await bundled()
    server.watched.guard = (request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/') return html(PAGE)
      if (pathname === '/elsewhere') return html('<!doctype html><title>elsewhere</title>')
      if (pathname === '/page.js') return script(page)
      if (pathname === '/worker.js') return script(WORKER)
      return proxy?.(request as unknown as Request)
    }
  })
  afterAll(async () => {
    await chromium?.stop()
    await server?.close()
  })

  let last = 0
  /** Tabs of a user who has signed up in the first one. */
  async function tabs(count: number): Promise<[Page, ...Page[]]> {
    const user: BrowserContext = await chromium.user()
    const opened: Page[] = []
    for (let at = 0; at < count; at += 1) opened.push((await chromium.open(server.url, user)).page)
    const [first] = opened as [Page]
    last += 1
    await register(first, `a${last}@example.com`)
    for (const page of opened) expect(await me(page)).toBe(200)
    return opened as [Page, ...Page[]]
  }
  const register = (page: Page, email: string) =>
    page.evaluate(async (email) => {
      const result = await exposed.api('/auth').register({ email, password: 'a long pass phrase' })
      if (!result.ok) throw new Error(result.error.message)
    }, email)
  const me = (page: Page) => page.evaluate(() => exposed.me())
  /** In Chromium what one tab stores shows some milliseconds later in others. */
  const gone = (page: Page) => expect.poll(() => me(page), { timeout: 10_000 }).toBe(401)
  const signOut = (page: Page) =>
    page.evaluate(async () => void (await exposed.api('/auth').logout()))
  const signedOut = (page: Page) => page.evaluate(() => exposed.signedOut)
  const expire = () => {
    server.watched.now += LIFETIME_MS
  }
  const kept = (page: Page) => page.evaluate(() => Object.keys(localStorage))

  describe('nobody is signed out', () => {
    it.each([
      ['a page with a 401', () => new Response('<h1>Sign in to the proxy</h1>', { status: 401 })],
      ['a page with a 200', () => html('<h1>Welcome to the hotel</h1>')],
      ['a 403', () => new Response('', { status: 403 })],
      ['a 404', () => new Response('', { status: 404 })],
    ])('by %s of something before the app, where a refresh was due', async (_, answer) => {
      const [page, other] = await tabs(2)
      expire()
      proxy = ({ url }) => (url.endsWith(REFRESH) ? answer() : undefined)
      // That is no word of who is signed in, for what signs out on a 401.
      expect(await me(page)).not.toBe(401)
      proxy = undefined
      expect(await me(page)).toBe(200)
      expect(await me(other as Page)).toBe(200)
      expect([await signedOut(page), await signedOut(other as Page)]).toEqual([0, 0])
    })

    it('while a service worker answers for a network that is not there', async () => {
      const [page] = await tabs(1)
      await page.evaluate(async () => {
        await navigator.serviceWorker.register('/worker.js')
        await navigator.serviceWorker.ready
        while (!navigator.serviceWorker.controller) await new Promise((r) => setTimeout(r, 5))
      })
      const turn = (isOff: boolean) =>
        page.evaluate(
          (isOff) =>
            new Promise((done) => {
              const { port1, port2 } = new MessageChannel()
              port1.onmessage = done
              navigator.serviceWorker.controller?.postMessage(isOff, [port2])
            }),
          isOff,
        )
      await turn(true)
      expire()
      expect(await me(page)).toBe(503)
      await turn(false)
      expect(await me(page)).toBe(200)
      expect(await signedOut(page)).toBe(0)
    })

    it('offline, with a token that expires meanwhile', async () => {
      const [page, other] = await tabs(2)
      await page.setOfflineMode(true)
      expire()
      expect(await me(page)).toBe(0)
      expect(await me(other as Page)).toBe(200)
      await page.setOfflineMode(false)
      expect(await me(page)).toBe(200)
      expect(await signedOut(page)).toBe(0)
    })

    it('by answers that are lost after the tokens were replaced', async () => {
      const [page, other] = await tabs(2)
      expire()
      let lost = 0
      server.watched.answered = async ({ url }) => {
        if (!url.endsWith(REFRESH)) return
        lost += 1
        await page.setOfflineMode(true)
      }
      expect(await me(page)).toBe(0)
      server.watched.answered = async () => {}
      await page.setOfflineMode(false)
      expect(lost).toBeGreaterThan(0)
      expect([await me(page), await me(other as Page)]).toEqual([200, 200])
      expect([await signedOut(page), await signedOut(other as Page)]).toEqual([0, 0])
    })

    it('by a tab that is frozen while it refreshes', async () => {
      const [page, other] = await tabs(2)
      expire()
      const device = await page.createCDPSession()
      const turn = (state: 'frozen' | 'active') =>
        device.send('Page.setWebLifecycleState', { state })
      const isFrozen = new Promise<void>((done) => {
        server.watched.answered = async ({ url }) => {
          if (!url.endsWith(REFRESH)) return
          server.watched.answered = async () => {}
          await turn('frozen')
          done()
        }
      })
      const asked = me(page)
      await isFrozen
      // It waits for its turn, as on a machine that sleeps.
      const waits = me(other as Page)
      await turn('active')
      expect([await asked, await waits]).toEqual([200, 200])
      expect([await signedOut(page), await signedOut(other as Page)]).toEqual([0, 0])
    })

    it('by a clock that jumps an hour back and forth', async () => {
      const [page, other] = await tabs(2)
      for (const hours of [1, -1, 2, 0]) {
        for (const one of [page, other as Page]) {
          await one.evaluate((by) => {
            const now = performance.now.bind(performance)
            const { timeOrigin } = performance
            Date.now = () => timeOrigin + now() + by * 3_600_000
          }, hours)
        }
        expire()
        expect([await me(page), await me(other as Page)]).toEqual([200, 200])
      }
    })
  })

  describe('nobody stays signed in', () => {
    it('after a sign-out in another tab, offline', async () => {
      const [page, other] = await tabs(2)
      await page.setOfflineMode(true)
      await signOut(page)
      await gone(other as Page)
      expect(await signedOut(other as Page)).toBe(1)
      expect(await kept(page)).toEqual([])
    })

    it('after a sign-out while another tab refreshes', async () => {
      const [page, other] = await tabs(2)
      expire()
      let release = () => {}
      const isHeld = new Promise<void>((held) => {
        server.watched.answered = async ({ url }) => {
          if (!url.endsWith(REFRESH)) return
          held()
          await new Promise<void>((done) => {
            release = done
          })
        }
      })
      const asked = me(other as Page)
      await isHeld
      server.watched.answered = async () => {}
      await signOut(page)
      release()
      expect(await asked).toBe(401)
      expect(await kept(page)).toEqual([])
      expect(await me(page)).toBe(401)
      await gone(other as Page)
    })

    it('after the storage was cleared', async () => {
      const [page, other] = await tabs(2)
      await page.evaluate(() => localStorage.clear())
      expect(await me(page)).toBe(401)
      await gone(other as Page)
      expect([await signedOut(page), await signedOut(other as Page)]).toEqual([1, 1])
    })

    it('on a page that comes back from the cache of the browser', async () => {
      const [page, other] = await tabs(2)
      await page.goto(`${server.url}/elsewhere`)
      await signOut(other as Page)
      await page.goBack()
      await page.waitForFunction(() => 'exposed' in globalThis)
      await gone(page)
      expect(await kept(page)).toEqual([])
    })

    it('where the storage is full', async () => {
      const [page, other] = await tabs(2)
      await page.evaluate(() => {
        let text = 'x'.repeat(4_000_000)
        for (let at = 0; text !== ''; at += 1) {
          try {
            localStorage.setItem(`full${at}`, text)
          } catch {
            text = text.slice(text.length / 2 + 1)
          }
        }
      })
      expire()
      expect(await me(page)).toBe(200)
      await signOut(page)
      expect(await me(page)).toBe(401)
      await gone(other as Page)
      expect((await kept(page)).filter((name) => !name.startsWith('full'))).toEqual([])
    })
  })

  it('a call is never sent again as the user who has signed in meanwhile in another tab', async () => {
    const [page, other] = await tabs(2)
    expire()
    let release = () => {}
    const isHeld = new Promise<void>((held) => {
      proxy = ({ url }) => {
        if (isMe(url)) held()
        return undefined
      }
    })
    server.watched.answered = async ({ url }) => {
      if (!isMe(url)) return
      server.watched.answered = async () => {}
      await new Promise<void>((done) => {
        release = done
      })
    }
    const asked = me(page)
    await isHeld
    proxy = undefined
    last += 1
    await register(other as Page, `b${last}@example.com`)
    release()
    expect(await asked).toBe(401)
    expect(await me(page)).toBe(200)
  })
})
