import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { Author, PEOPLE } from '../admin/apps.ts'
import { Library } from '../admin/library.ts'
import { click, follow, found, press, sees, visit, write } from '../admin/screens.ts'
import { withService } from '../services/shared.ts'

await withService('chromium', () => {
  const lib = new Library()

  /** What has the focus, by what it is called. */
  const focused = (page: Page) =>
    page.evaluate(() => {
      const { ariaLabel, textContent, tagName } = document.activeElement as HTMLElement
      return tagName === 'BODY' ? tagName : (ariaLabel ?? textContent)
    })
  /** Whether nothing lies over all of what has the focus, which is none of the page itself. */
  const isSeen = (page: Page) =>
    page.evaluate(() => {
      const one = document.activeElement
      if (!one || one === document.body) return undefined
      const { x, y, width, height } = one.getBoundingClientRect()
      const places = [0.1, 0.5, 0.9].map((part) => [x + width / 2, y + height * part] as const)
      return places.some((place) => one.contains(document.elementFromPoint(...place)))
    })
  /** The controls that Tab comes to, and that nobody sees there. */
  async function unseen(page: Page): Promise<readonly (string | null)[]> {
    const names: (string | null)[] = []
    for (let at = 0; at < 60; at += 1) {
      await page.keyboard.press('Tab')
      const seen = await isSeen(page)
      if (seen === undefined) return names
      if (!seen) names.push(await focused(page))
    }
    throw new Error('Tab does not end')
  }
  const pressKey = async (page: Page, selector: string) => {
    await (await found(page, selector)).focus()
    await page.keyboard.press('Enter')
  }
  const isWide = (page: Page) =>
    page.evaluate(() => document.documentElement.scrollWidth > innerWidth)

  describe('A screen that is not there', () => {
    it('has a title and a heading of its own', async () => {
      const page = await lib.entered(PEOPLE.reader)
      const { _id } = await lib.book('Atlas 1')
      await lib.books.delete(_id)
      for (const [path, text, title] of [
        ['/yesterday', 'There is no such record.', 'Library'],
        [`/books/record/${_id}`, 'There is no such record.', 'Book · Library'],
        ['/books?filter=x', 'The address of this list cannot be read.', 'Books · Library'],
      ] as const) {
        await visit(page, lib.base, '/authors')
        await sees(page, ' records')
        await visit(page, lib.base, path)
        await sees(page, text)
        expect(await page.title()).toBe(title)
        expect(await page.$$eval('h1', (all) => all.length)).toBe(1)
      }
    })

    it('is said where the page itself cannot be read', async () => {
      const { page } = await lib.opened()
      await page.setRequestInterception(true)
      page.on('request', (request) =>
        request.url().endsWith('/openapi.json') ? request.abort() : request.continue(),
      )
      await page.reload()
      await sees(page, 'The description of this app could not be loaded.')
      await page.browserContext().close()
    })
  })

  describe('On a narrow screen', () => {
    it('the menu is closed by who goes on behind it', async () => {
      const page = await lib.entered(PEOPLE.reader)
      await visit(page, lib.base, '/account')
      await sees(page, 'Sign out everywhere')
      await page.setViewport({ width: 390, height: 700 })
      await pressKey(page, 'header.bar button')
      await found(page, 'aside.open')
      await page.keyboard.press('Tab')
      await found(page, 'aside.open')
      expect(await unseen(page)).toEqual([])
      expect(await page.$('aside.open')).toBeNull()
      // A link to the same screen closes it, too.
      await press(page, 'Menu')
      await click(page, '.who a')
      await page.waitForSelector('aside.open', { hidden: true })
      await expect.poll(() => focused(page)).toMatch(/^Account/)
    })

    it('nothing that has the focus is behind the buttons of a form, and all of it fits', async () => {
      const page = await lib.entered(PEOPLE.admin)
      const { _id } = await lib.book('Birds 1')
      await lib.books.update(_id, { tags: ['one', 'two'], place: { room: 'A', shelf: 1 } })
      await page.evaluate(() => localStorage.setItem('fieldgate-admin.locale', 'de'))
      await page.setViewport({ width: 320, height: 640 })
      await page.reload()
      await visit(page, lib.base, `/books/record/${_id}`)
      await write(page, 'Pages', '77')
      await sees(page, 'Nicht gespeicherte')
      expect(await isWide(page)).toBe(false)
      expect(await unseen(page)).toEqual([])
    })

    it('and with more space in texts, screens are no wider than the window', async () => {
      const page = await lib.entered(PEOPLE.admin)
      await page.setViewport({ width: 320, height: 640 })
      for (const path of ['/account', '/books', '/books/create']) {
        await visit(page, lib.base, path)
        await page.waitForFunction(() => !document.querySelector('.loading'))
        await found(page, 'h1')
        await page.evaluate(() => {
          const sheet = new CSSStyleSheet()
          sheet.replaceSync(
            '* { letter-spacing: 0.12em !important; word-spacing: 0.16em !important }',
          )
          document.adoptedStyleSheets = [sheet]
        })
        expect([path, await isWide(page)]).toEqual([path, false])
      }
    })

    it('lists are sorted, and selected as a whole', async () => {
      const page = await lib.entered(PEOPLE.admin)
      await page.setViewport({ width: 390, height: 700 })
      await press(page, 'Title')
      await found(page, 'th[aria-sort="ascending"]')
      await press(page, 'Title')
      await found(page, 'tr:first-child a::-p-text(Jade 6)')
      await click(page, 'th.check input')
      await sees(page, '25 selected')
    })
  })

  it('Texts are as large as the browser is told to have them', async () => {
    const page = await lib.entered(PEOPLE.reader)
    const device = await page.createCDPSession()
    const size = () =>
      page.evaluate(() => Number.parseFloat(getComputedStyle(document.body).fontSize))
    const before = await size()
    await device.send('Page.setFontSizes', { fontSizes: { standard: 32 } })
    await expect.poll(size).toBe(2 * before)
  })

  it('What lists find, show and have selected is read out', async () => {
    const page = await lib.entered(PEOPLE.admin)
    const said = (text: string) => found(page, `[role="status"]::-p-text(${text})`)
    await write(page, 'Search Books', 'Clouds')
    await said('6 records')
    await click(page, 'td.check input')
    await said('1 selected')
    await write(page, 'Search Books', 'nothing of that kind')
    await said('Nothing matches.')
    await press(page, 'Clear search and filters')
    await press(page, 'Next page')
    await said('Page 2 of 3')
  })

  it('Who uses keys goes on beside what they have taken away', async () => {
    const page = await lib.entered(PEOPLE.admin)
    /** Presses a button that goes away by it. What has the focus is `next`. */
    const takesAway = async (selector: string, next: RegExp) => {
      await pressKey(page, selector)
      await page.waitForFunction((gone) => !document.querySelector(gone), {}, selector)
      await expect.poll(() => focused(page)).toMatch(next)
    }
    await click(page, 'td.check input')
    await takesAway('.bulk .link', /^\d+ selected$/)
    await takesAway('.bulk .quiet', /^Books$/)
    await press(page, 'Filters')
    await takesAway('.rule .quiet', /^Add filter$/)
    // The list goes to its new address somewhat later, and would end the next screen.
    await page.waitForFunction(() => location.hash.includes('filter='))
    await visit(page, lib.base, '/books/create')
    await press(page, 'Add Tags')
    await takesAway('.item-buttons .quiet:last-child', /^Add Tags$/)
    await visit(page, lib.base, '/account')
    await pressKey(page, 'button::-p-text(Set up an authenticator app)')
    await found(page, 'svg.qr')
    expect(await focused(page)).toBe('Authenticator app')
  })

  it('Escape closes a window from a search in it too, which it only empties in WebKit', async () => {
    const page = await lib.entered(PEOPLE.admin)
    await press(page, 'Columns')
    await found(page, 'dialog input[type="search"]:focus')
    await page.evaluate(() => {
      const ignore = (event: Event) => {
        event.preventDefault()
        event.stopPropagation()
      }
      addEventListener('cancel', ignore, { capture: true })
    })
    await page.keyboard.type('pa')
    await page.keyboard.press('Escape')
    await page.waitForFunction(
      () => (document.activeElement as HTMLInputElement | null)?.value === '',
    )
    await found(page, 'dialog[open]')
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog', { hidden: true })
    expect(await focused(page)).toBe('Columns')
  })

  it('Who clicks elsewhere is not brought back to what goes away later', async () => {
    const page = await lib.entered(PEOPLE.admin)
    await click(page, 'td.check input')
    await (await found(page, '.bulk .quiet')).focus()
    // In the menu, where nothing takes the focus.
    await page.mouse.click(100, 400)
    await page.$eval('.bulk .quiet', (one) => (one as HTMLElement).click())
    await page.waitForFunction(() => !document.querySelector('.bulk'))
    expect(await focused(page)).toBe('BODY')
  })

  it('Names from right to left are so in charts and choices, too', async () => {
    await lib.app.store.collection(Author).insert({ name: 'משה (עורך)!' })
    const page = await lib.entered(PEOPLE.admin)
    await press(page, 'Filters')
    await press(page, 'Chart')
    const directions = await page.$$eval('.who span, select, .chart th', (all) =>
      all.map((one) => getComputedStyle(one).unicodeBidi),
    )
    expect(new Set(directions)).toEqual(new Set(['plaintext']))
    await follow(page, 'admin of the library')
    await write(page, 'Name', 'משה!')
    await press(page, 'New API key')
    const name = await found(page, '.rows bdi')
    expect(await name.evaluate((one) => one.textContent)).toBe('משה!')
  })
})
