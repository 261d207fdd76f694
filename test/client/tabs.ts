/**
 * Tabs of one user whose access token expires: one of them refreshes, and all go on. Also with a tab that is closed in
 * the middle of it.
 *
 * @module
 */

import { join } from 'node:path'
import { build } from 'esbuild'
import type { BrowserContext } from 'puppeteer-core'
import { type Chromium, startChromium, type Tab } from '../services/chromium.ts'
import { served } from './app.ts'
import type { Exposed } from './page.ts'

declare const exposed: Exposed

/** Tabs of one user, on a server that records what reaches it. */
export interface Tabs {
  /** One round: the token expires, and every tab asks at once. */
  round(): Promise<Round>
  /** One round in which the tab that refreshes is closed before it has the answer. */
  roundWithKill(): Promise<Round>
  /** A tab uploads a photo of this many bytes; it aborts at the first sign of progress if asked to. */
  upload(bytes: number, isAborted?: boolean): Promise<Uploaded>
  stop(): Promise<void>
}

/** What a round saw. */
export interface Round {
  /** The statuses that the tabs got. */
  readonly statuses: readonly number[]
  /** Requests to the refresh route. */
  readonly refreshes: number
  /** How many tabs were told that the session is over. */
  readonly signedOut: number
}

/** What a tab saw of its upload. */
export interface Uploaded {
  /** The bytes that had been sent, each time that the tab was told, and how many there are. */
  readonly told: readonly { readonly loaded: number; readonly total: number }[]
  /** The photo's link, or the status of the failure. */
  readonly result: string | number | undefined
}

/** Longer than an access token of the app lives, in milliseconds. */
const LIFETIME_MS = 70_000
const REFRESH = 'POST /auth/token/refresh'

/** Opens `count` tabs of a user who is signed in. */
export async function openTabs(count: number, running?: Chromium): Promise<Tabs> {
  const server = await served()
  const chromium = running ?? (await startChromium())
  const script = await bundled()
  const { watched } = server
  let hold: Promise<void> | undefined
  let held = () => {}
  let finished = () => {}
  watched.guard = async (request) => {
    const { pathname } = new URL(request.url)
    if (pathname === '/') return new Response(PAGE, { headers: { 'Content-Type': 'text/html' } })
    if (pathname === '/page.js') {
      return new Response(script, { headers: { 'Content-Type': 'text/javascript' } })
    }
    return undefined
  }
  // After the route has run: the tokens are replaced, and the tab does not know.
  watched.answered = async (request) => {
    if (!request.url.endsWith('/auth/token/refresh')) return
    if (!hold) return finished()
    const waits = hold
    hold = undefined
    held()
    await waits
  }
  const user: BrowserContext = await chromium.user()
  const open = () => chromium.open(server.url, user)
  const tabs: Tab[] = []
  for (let index = 0; index < count; index += 1) tabs.push(await open())
  await tabs[0]?.page.evaluate(async () => {
    const body = { email: 'a@example.com', password: 'a long pass phrase', name: 'Ann' }
    const result = await exposed.api('/auth').register(body)
    if (!result.ok) throw new Error(result.error.message)
  })
  const all = <T>(ask: (tab: Tab) => Promise<T>) => Promise.all(tabs.map(ask))
  const ask = (tab: Tab) => tab.page.evaluate(() => exposed.me())
  const toldOf = (tab: Tab) => tab.page.evaluate(() => exposed.signedOut)

  async function round(act: () => Promise<number[]>): Promise<Round> {
    watched.now += LIFETIME_MS
    const before = watched.seen.length
    const statuses = await act()
    const refreshes = watched.seen.slice(before).filter((seen) => seen === REFRESH).length
    const signedOut = (await all(toldOf)).reduce((sum, one) => sum + one, 0)
    return { statuses, refreshes, signedOut }
  }
  return {
    round: () => round(() => all(ask)),
    roundWithKill: () =>
      round(async () => {
        let release = () => {}
        hold = new Promise((resolve) => {
          release = resolve
        })
        const isHeld = new Promise<void>((resolve) => {
          held = resolve
        })
        const isFinished = new Promise<void>((resolve) => {
          finished = resolve
        })
        const [first] = tabs.splice(0, 1)
        // Only this tab asks, so it is the one that refreshes; it never gets an answer.
        first?.page.evaluate(() => exposed.me()).catch(() => {})
        await isHeld
        await first?.page.close({ runBeforeUnload: false })
        release()
        // The others have asked for nothing yet.
        await isFinished
        tabs.push(await open())
        return all(ask)
      }),
    async upload(bytes, isAborted = false) {
      const [tab] = tabs
      if (!tab) throw new Error('there is no tab')
      const upload = async (size: number, ends: boolean, start: number[]): Promise<Uploaded> => {
        const told: { loaded: number; total: number }[] = []
        const controller = new AbortController()
        const parts = [Uint8Array.from(start), new Uint8Array(size - start.length)]
        const result = await exposed.api('/cities').create(
          { name: 'Oslo', photo: new File(parts, 'dot.png', { type: 'image/png' }) },
          {
            signal: controller.signal,
            onProgress(progress) {
              told.push(progress)
              if (ends) controller.abort()
            },
          },
        )
        return { told, result: result.ok ? result.data.photo : result.error.status }
      }
      return tab.page.evaluate(upload, bytes, isAborted, PNG)
    },
    async stop() {
      await user.close()
      if (!running) await chromium.stop()
      await server.close()
    },
  }
}

/** An image of one pixel. What follows it is not looked at. */
const PNG = [
  ...Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
    'base64',
  ),
]

export const PAGE =
  '<!doctype html><link rel="icon" href="data:,"><title>tab</title><script type="module" src="/page.js"></script>'

export async function bundled(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'page.ts')],
    bundle: true,
    format: 'esm',
    write: false,
    conditions: ['fieldgate-source'],
  })
  return outputFiles[0]?.text ?? ''
}
