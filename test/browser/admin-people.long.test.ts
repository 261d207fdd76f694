import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { depot, library, PEOPLE } from '../admin/apps.ts'
import {
  column,
  field,
  follow,
  found,
  has,
  opened,
  press,
  sees,
  signIn,
  visit,
  write,
} from '../admin/screens.ts'
import { type Chromium, startChromium } from '../services/chromium.ts'
import { withService } from '../services/shared.ts'

type Server = Awaited<ReturnType<typeof serve>>
const listen = { port: 0, hostname: '127.0.0.1', signals: false } as const

await withService('chromium', () => {
  describe('The admin page', () => {
    let chromium: Chromium
    let books: Server
    let parts: Server
    beforeAll(async () => {
      books = await serve(await library(), listen)
      parts = await serve(await depot(), listen)
      chromium = await startChromium()
    })
    afterAll(async () => {
      await chromium?.stop()
      await books?.close()
      await parts?.close()
    })

    it('an editor finds, changes and creates records, and is offered nothing else', async () => {
      const { page, problems } = await opened(chromium, `${books.url}/admin`)
      await signIn(page, PEOPLE.editor)
      await sees(page, '60 records')
      expect(await has(page, 'aria/Users[role="link"]')).toBe(false)

      await write(page, 'Search Books', 'lind')
      await sees(page, '20 records')
      expect(await column(page, 'Author')).toContain('Otto Lind')
      await follow(page, 'Atlas 2')
      await field(page, 'Title')
      expect(await has(page, 'aria/Delete[role="button"]')).toBe(false)
      await write(page, 'Pages', '0')
      await press(page, 'Save')
      await sees(page, 'Some fields need another value.')
      expect(await has(page, '.field .error')).toBe(true)
      await write(page, 'Pages', '171')
      await press(page, 'Save')
      await sees(page, 'Saved.')

      await follow(page, 'Authors')
      await follow(page, 'Create')
      await write(page, 'Name', 'Ulla Berg')
      await press(page, 'Create')
      await sees(page, 'Created.')
      // The app's own refusals of what is wrong are no problems of the page.
      const expected = /status of 40[01]/
      expect(problems.filter((one) => !expected.test(one))).toEqual([])
      await page.browserContext().close()
    })

    it('a reader reads', async () => {
      const { page } = await opened(chromium, `${books.url}/admin`)
      await signIn(page, PEOPLE.reader)
      await follow(page, 'Atlas 1')
      await sees(page, 'You may read this record, but not change it.')
      expect(await has(page, 'aria/Save[role="button"]')).toBe(false)
      await follow(page, 'Books')
      await sees(page, '60 records')
      expect(await has(page, 'aria/Create[role="link"]')).toBe(false)
      // An address that was kept from before, or that a colleague has sent.
      await visit(page, `${books.url}/admin`, '/books/create')
      await sees(page, 'New Book')
      await sees(page, 'You may not do this.')
      expect(await has(page, 'form')).toBe(false)
      await page.browserContext().close()
    })

    it('an app without accounts, below a path, paged by cursor and without a document, has it too', async () => {
      const base = `${parts.url}/api/back/office`
      const { page, problems } = await opened(chromium, base)
      await found(page, 'td a.name')
      const first = await column(page, 'Label')
      await press(page, 'Next page')
      await sees(page, 'Page 2')
      const second = await column(page, 'Label')
      expect(second.filter((label) => first.includes(label))).toEqual([])
      await page.reload()
      await sees(page, 'Page 2')
      expect(await column(page, 'Label')).toEqual(second)
      const isLast = () =>
        page.$eval('aria/Next page[role="button"]', (button) => button.ariaDisabled === 'true')
      for (let at = 3; !(await isLast()); at += 1) {
        await press(page, 'Next page')
        await sees(page, `Page ${at}`)
      }
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Next page')
      await visit(page, base, '/parts')
      await press(page, 'Weight')
      await page.waitForFunction(
        () => document.querySelector('td[data-label="Weight"]')?.textContent === '0',
      )
      expect(problems).toEqual([])
      await page.browserContext().close()
    })

    it('works behind a proxy that takes the path of the app off the requests', async () => {
      const proxy = createServer((asked, answer) => {
        const [, path] = asked.url?.match(/^\/tools(\/.*)/) ?? []
        if (!path) return void answer.writeHead(404).end()
        const { method, headers } = asked
        const there = request(`${books.url}${path}`, { method, headers }, (found) => {
          answer.writeHead(found.statusCode ?? 502, found.headers)
          found.pipe(answer)
        })
        asked.pipe(there)
      })
      await new Promise<void>((done) => void proxy.listen(0, '127.0.0.1', done))
      onTestFinished(() => {
        proxy.closeAllConnections()
        proxy.close()
      })
      const { port } = proxy.address() as AddressInfo
      const { page, problems } = await opened(chromium, `http://127.0.0.1:${port}/tools/admin`)
      await signIn(page, PEOPLE.reader)
      await sees(page, ' records')
      expect(problems).toEqual([])
      await page.browserContext().close()
    })
  })
})
