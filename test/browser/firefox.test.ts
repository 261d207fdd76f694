/** What only another engine shows; all else is tested in Chromium. */

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { library, PASSWORD, PEOPLE } from '../admin/apps.ts'
import { opened, sees, signIn, signOut } from '../admin/screens.ts'
import { openTabs } from '../client/tabs.ts'
import { type Chromium, startFirefox } from '../services/chromium.ts'
import { withService } from '../services/shared.ts'

await withService('firefox', () => {
  describe('In Firefox', () => {
    let firefox: Chromium
    beforeAll(async () => {
      firefox = await startFirefox()
    })
    afterAll(() => firefox?.stop())

    it('of tabs whose access token expires, one refreshes and all go on', async () => {
      const tabs = await openTabs(4, firefox)
      onTestFinished(() => tabs.stop())
      const good = { statuses: [200, 200, 200, 200], signedOut: 0 }
      expect(await tabs.round()).toEqual({ ...good, refreshes: 1 })
      expect(await tabs.roundWithKill()).toEqual({ ...good, refreshes: 2 })
      const { told, result } = await tabs.upload(2_000_000)
      expect(result).toMatch(/\.png/)
      expect(told.at(-1)?.loaded).toBe(told.at(-1)?.total)
    })

    it('who signs out of the admin page is signed out at the server, too', async () => {
      const app = await library()
      const { url, close } = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
      onTestFinished(close)
      const login = await fetch(`${url}/auth/login`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ identifier: PEOPLE.reader, password: PASSWORD }),
      })
      const { data } = (await login.json()) as { data: { token: string } }
      const sessions = async () => {
        const headers = { Authorization: `Bearer ${data.token}` }
        const { data: all } = await (await fetch(`${url}/auth/sessions`, { headers })).json()
        return (all as unknown[]).length
      }
      const { page, problems } = await opened(firefox, `${url}/admin`)
      const before = await sessions()
      for (let times = 0; times < 3; times += 1) {
        await signIn(page, PEOPLE.reader)
        await sees(page, '60 records')
        expect(await sessions()).toBe(before + 1)
        await signOut(page, 'Sign out')
        await expect.poll(sessions, { timeout: 20_000 }).toBe(before)
      }
      expect(problems).toEqual([])
    })
  })
})
