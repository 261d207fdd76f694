import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTabs, type Tabs } from '../client/tabs.ts'
import { withService } from '../services/shared.ts'

const TABS = 20
const ROUNDS = 8

await withService('chromium', () => {
  describe('tabs that share a session', () => {
    let tabs: Tabs
    beforeAll(async () => {
      tabs = await openTabs(TABS)
    })
    afterAll(() => tabs?.stop())
    const good = { statuses: Array(TABS).fill(200), signedOut: 0 }

    it(`of ${TABS} tabs whose access token expires, one refreshes and all go on`, async () => {
      for (let count = 0; count < ROUNDS; count += 1) {
        expect(await tabs.round()).toEqual({ ...good, refreshes: 1 })
      }
    })

    it('when the tab that refreshes is closed, another one finishes it and nobody is signed out', async () => {
      for (let count = 0; count < 3; count += 1) {
        // Once by the tab that is closed, once by the one that takes over.
        expect(await tabs.roundWithKill()).toEqual({ ...good, refreshes: 2 })
      }
    })

    it('an upload tells its progress up to the last byte', async () => {
      const bytes = 2_000_000
      const { told, result } = await tabs.upload(bytes)
      expect(result).toMatch(/\.png/)
      const sent = told.map(({ loaded }) => loaded)
      expect(sent).toEqual(sent.toSorted((a, b) => a - b))
      const last = told.at(-1)
      expect(last?.loaded).toBe(last?.total)
      // The form around the file adds some.
      expect(last?.total).toBeGreaterThan(bytes)
    })

    it('an upload that is aborted is a result without a status', async () => {
      expect((await tabs.upload(4_000_000, true)).result).toBe(0)
    })
  })
})
