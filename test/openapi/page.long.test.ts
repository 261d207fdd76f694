/** The reference page in Chromium: requests sent from it, and the one origin that it asks. */

import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { atlas } from '../../examples/atlas/app.ts'
import { City, Country } from '../../examples/atlas/models.ts'
import { secureHeaders } from '../../src/guards/index.ts'
import { type Chromium, startChromium, type Tab } from '../services/chromium.ts'
import { withService } from '../services/shared.ts'

const quiet = () => {}

/** The page as a user works with it. */
class Reference {
  readonly #page: Page
  readonly #url: string

  constructor(page: Page, url: string) {
    this.#page = page
    this.#url = url
  }

  /** Opens the form in which a request is tried. */
  async open(tag: string, method: string, path: string): Promise<void> {
    await this.#page.goto(`${this.#url}#tag/${tag}/${method}${path}`)
    const name = `(${method.toLowerCase()} ${path})`
    const button = `::-p-xpath(//button[contains(., "Test Request") and contains(., "${name}")])`
    // A click by the browser itself might miss while the page scrolls to the operation.
    await (await this.#page.waitForSelector(button))?.evaluate((found) =>
      (found as HTMLElement).click(),
    )
    await this.#page.waitForSelector(`::-p-xpath(${SEND})`, { visible: true })
  }

  /** Writes the body, as JSON. */
  async write(value: unknown): Promise<void> {
    await (await this.#page.waitForSelector('[role=dialog] .cm-content'))?.click()
    await this.#page.keyboard.down('Control')
    await this.#page.keyboard.press('KeyA')
    await this.#page.keyboard.up('Control')
    await this.#page.keyboard.sendCharacter(JSON.stringify(value))
  }

  /** Enters the access token. */
  async authenticate(token: string): Promise<void> {
    const input = await this.#page.waitForSelector('[placeholder="Token"]')
    await input?.focus()
    // The page draws itself anew for every key.
    await this.#page.keyboard.sendCharacter(token)
  }

  /** Sends the request, and waits until the page shows the status of its response. */
  async send(status: string): Promise<Record<string, unknown>> {
    const response = this.#page.waitForResponse((one) => !one.url().includes('/docs'))
    await (await this.#page.waitForSelector(`::-p-xpath(${SEND})`, { visible: true }))?.click()
    const body = await (await response).json()
    await this.#page.waitForFunction(
      (text) => document.querySelector<HTMLElement>('[role=dialog]')?.textContent.includes(text),
      {},
      status,
    )
    await (
      await this.#page.waitForSelector('::-p-xpath(//button[contains(., "Close Client")])')
    )?.click()
    await this.#page.waitForSelector('[role=dialog]', { hidden: true })
    return body
  }
}

const SEND = '//*[@role="dialog"]//button[contains(., "Send") and contains(., "request to")]'

await withService('chromium', () => {
  describe('the reference page', () => {
    let chromium: Chromium
    let server: Awaited<ReturnType<typeof serve>>
    let tab: Tab
    let reference: Reference
    const asked: string[] = []

    beforeAll(async () => {
      const app = atlas({
        store: sqliteStore(),
        secret: 'a secret for tests, 32 characters or more',
        logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      })
      app.use(secureHeaders())
      await app.ready()
      const country = await app.store.collection(Country).insert({
        code: 'PT',
        name: 'Portugal',
        officialName: 'Portuguese Republic',
        region: 'Europe',
        subregion: 'Southern Europe',
        capitals: ['Lisbon'],
        languages: ['Portuguese'],
        currencies: ['EUR'],
        emoji: '🇵🇹',
      })
      const place = { country: country._id, latitude: 39, longitude: -9 }
      const cities = app.store.collection(City)
      await cities.insert({ ...place, name: 'Lisbon', population: 545_796, capital: true })
      await cities.insert({ ...place, name: 'Porto', population: 231_800, capital: false })
      server = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
      chromium = await startChromium()
      tab = await chromium.open()
      tab.page.on('request', (request) => asked.push(`${request.method()} ${request.url()}`))
      await tab.page.setViewport({ width: 1280, height: 900 })
      reference = new Reference(tab.page, `${server.url}/docs`)
    })
    afterAll(async () => {
      await chromium.stop()
      await server.close()
    })

    it('is there after a few seconds of a processor, and shows links before', async () => {
      const { page, problems } = await chromium.open(`${server.url}/docs`)
      await page.waitForSelector('::-p-xpath(//button[contains(., "Test Request")])')
      const session = await page.createCDPSession()
      await session.send('Performance.enable')
      const { metrics } = await session.send('Performance.getMetrics')
      expect(metrics.find(({ name }) => name === 'ProcessTime')?.value).toBeLessThan(5)
      const links = await page.$eval('body > p', (each) => getComputedStyle(each).display)
      const [painted = 0, ran = 0] = await page.evaluate(() => [
        performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
        performance.now(),
      ])
      expect(links).toBe('none')
      expect(painted).toBeLessThan((ran ?? 0) / 2)
      expect(problems).toEqual([])
      await page.close()
    })

    it('sends a list, a QUERY, a sign-up and a favourite, and asks no other origin', async () => {
      await reference.open('cities', 'GET', '/cities')
      const listed = await reference.send('200 OK')
      expect(listed).toMatchObject({ data: [{ name: 'Lisbon' }, { name: 'Porto' }] })

      await reference.open('cities', 'QUERY', '/cities')
      await reference.write({ filter: { population: { lt: 500_000 } } })
      const found = await reference.send('200 OK')
      expect(found).toMatchObject({ data: [{ name: 'Porto' }] })

      await reference.open('auth', 'POST', '/auth/register')
      await reference.write({ email: 'ana@example.com', password: 'correct horse' })
      const { data } = (await reference.send('201 Created')) as { data: { token: string } }

      const [porto] = found.data as { _id: string }[]
      await reference.authenticate(data.token)
      await reference.open('favourites', 'POST', '/favourites')
      await reference.write({ city: porto?._id, note: 'the bridges' })
      const kept = await reference.send('201 Created')
      expect(kept).toMatchObject({ data: { note: 'the bridges' } })

      expect(tab.problems).toEqual([])
      const elsewhere = asked.filter((one) => {
        const { origin, protocol } = new URL(one.slice(one.indexOf(' ') + 1))
        return origin !== server.url && protocol !== 'data:' && protocol !== 'blob:'
      })
      expect(elsewhere).toEqual([])
      expect(asked).toContain(`QUERY ${server.url}/cities`)
    })
  })
})
