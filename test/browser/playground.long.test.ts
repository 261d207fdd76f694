/** The playground of the site, as a static server would serve it. */

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { buildPlayground } from '../../scripts/playground/build.ts'
import { type Chromium, startChromium } from '../services/chromium.ts'
import { withService } from '../services/shared.ts'

const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.html': 'text/html' }

await withService('chromium', () => {
  let chromium: Chromium
  let folder: string
  /** Whether requests have no `body` in the thread of the app, as in Firefox. */
  let isFirefox = false
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').replace(/^\/try\/$/, '/try/index.html')
    const content = await readFile(join(folder, path.replace('/try/', ''))).catch(() => undefined)
    response.writeHead(content ? 200 : 404, { 'Content-Type': TYPES[extname(path)] ?? '' })
    if (isFirefox && path.endsWith('/worker.js')) response.write('delete Request.prototype.body\n')
    response.end(content)
  })

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fieldgate-playground-'))
    await buildPlayground(folder)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    chromium = await startChromium()
  })
  afterAll(async () => {
    await chromium?.stop()
    server.close()
    await rm(folder, { recursive: true })
  })

  /** Waits until the app has started, or has not. */
  async function state(page: Page): Promise<string> {
    const said = () => {
      const text = document.querySelector('#state')?.textContent ?? ''
      return text !== '' && text !== 'Starting …' && text
    }
    return (await (await page.waitForFunction(said)).jsonValue()) as string
  }

  /** Runs the module after a change of its text. */
  async function changed(page: Page, from: string, to: string): Promise<string> {
    await page.evaluate(
      ([from, to]) => {
        const code = document.querySelector('#code') as HTMLTextAreaElement
        code.value = code.value.replace(from ?? '', to ?? '')
        document.querySelector<HTMLElement>('#run')?.click()
      },
      [from, to],
    )
    return state(page)
  }

  /** What the page shows of the request that it suggests under a name. */
  async function suggested(page: Page, name: string): Promise<string> {
    await page.evaluate((name) => {
      const shown = document.querySelector('#response')
      if (shown) shown.textContent = ''
      const buttons = [...document.querySelectorAll<HTMLElement>('#suggested button')]
      buttons.find(({ textContent }) => textContent === name)?.click()
    }, name)
    const text = () => document.querySelector('#response')?.textContent
    return (await (await page.waitForFunction(text)).jsonValue()) as string
  }

  const home = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/try/`

  it('takes bodies where requests have no stream of theirs, as in Firefox', async () => {
    isFirefox = true
    onTestFinished(() => {
      isFirefox = false
    })
    const user = await chromium.user()
    onTestFinished(() => user.close())
    const { page } = await chromium.open(home(), user)
    expect(await state(page)).toBe('The app runs in this page.')
    expect(await suggested(page, 'sums by country')).toMatch(/^200\n[^]*"population": 794565/)
    expect(await suggested(page, 'a new country')).toMatch(/^201\n[^]*"code": "FR"/)
  })

  it('runs an app in the browser, shows its responses and its reference page, and starts it again with another model', async () => {
    const { page, problems } = await chromium.open(home())
    expect(await state(page)).toBe('The app runs in this page.')
    expect(await suggested(page, 'a list')).toMatch(/^200\n[^]*"name": "Madrid"[^]*"code": "ES"/)
    expect(await suggested(page, 'sums by country')).toMatch(/^200\n[^]*"population": 794565/)
    expect(await suggested(page, 'a new country')).toMatch(/^201\n[^]*"code": "FR"/)
    expect(problems).toEqual([])
    expect(await suggested(page, 'a duplicate')).toContain('Duplicate value for: code.')

    const { page: reference } = await chromium.open(`${home()}api/docs`)
    await reference.waitForFunction(() => document.body.textContent.includes('Lists Countries'))
    await reference.close()

    const unfit = await changed(page, 'code: z.string().length(2)', 'code: z.string().length(3)')
    expect(unfit).toContain('{"code":"Too small')
    expect(await changed(page, 'length(3)', 'max(3), capital: z.string().optional()')).toBe(
      'The app runs in this page.',
    )
    expect(await suggested(page, 'a duplicate')).toMatch(/^409/)
    expect(await changed(page, "from 'zod'", "from 'zodd'")).toContain("'zodd' is not here")
    expect(await changed(page, "from 'zodd'", "from 'zod'; const const")).toContain('SyntaxError')
  })
})
