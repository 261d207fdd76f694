import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { Author, PEOPLE } from '../admin/apps.ts'
import { Library } from '../admin/library.ts'
import { choose, click, field, follow, found, press, sees, visit, write } from '../admin/screens.ts'
import { withService } from '../services/shared.ts'

await withService('chromium', () => {
  const lib = new Library()

  /** The page may be drawing itself anew. */
  const PATIENCE = { timeout: 10_000 }
  /** What the control with a label says is wrong with it. */
  const mistake = async (page: Page, label: string) =>
    (await field(page, label)).evaluate((one) => {
      const below = one.getAttribute('aria-describedby')
      return one.ariaInvalid === 'true' && below && document.getElementById(below)?.textContent
    })
  /** Replaces what is in a field, key by key. */
  async function type(page: Page, label: string, keys: string): Promise<void> {
    await (await field(page, label)).click({ count: 3 })
    await page.keyboard.press('Backspace')
    await page.keyboard.type(keys)
  }
  /** What has the focus, by what it is called. */
  const focused = (page: Page) =>
    page.evaluate(() => {
      const { ariaLabel, labels, textContent, tagName } = document.activeElement as HTMLInputElement
      return tagName === 'BODY' ? tagName : (ariaLabel ?? labels?.[0]?.textContent ?? textContent)
    })
  const UNREADABLE = 'This cannot be read. Complete it or clear it.'

  describe('What cannot be read is said at its field, and is not saved:', () => {
    it('half a number, and broken JSON', async () => {
      const page = await lib.entered(PEOPLE.editor)
      const before = await lib.book('Atlas 3')
      await follow(page, 'Atlas 3')
      await type(page, 'Pages', '5e')
      await type(page, 'Extra', '{"a": ')
      await press(page, 'Save')
      await sees(page, 'Some fields need another value.')
      await expect.poll(() => mistake(page, 'Pages'), PATIENCE).toBe(UNREADABLE)
      await expect.poll(() => mistake(page, 'Extra'), PATIENCE).toBe('This is not valid JSON.')
      expect(await focused(page)).toBe('Pages')
      await type(page, 'Pages', '')
      await type(page, 'Pages', '-')
      await page.keyboard.press('Enter')
      await sees(page, UNREADABLE)
      expect(await lib.book('Atlas 3')).toEqual(before)
      // What is kept over a reload is no half value, nor its absence.
      await page.reload()
      expect(await (await field(page, 'Pages')).evaluate((one) => one.value)).toBe(
        String(before.pages),
      )
      await type(page, 'Pages', '5e2')
      await press(page, 'Save')
      await sees(page, 'Saved.')
      expect((await lib.book('Atlas 3')).pages).toBe(500)
    })

    it('half a date, also where there was none', async () => {
      const page = await lib.entered(PEOPLE.editor)
      await visit(page, lib.base, '/authors/create')
      await write(page, 'Name', 'Ada Half')
      await (await field(page, 'Born')).focus()
      await page.keyboard.type('12')
      await press(page, 'Create')
      await sees(page, 'Some fields need another value.')
      await expect.poll(() => mistake(page, 'Born'), PATIENCE).toBe(UNREADABLE)
      const authors = lib.app.store.collection(Author)
      expect(await authors.count({ name: 'Ada Half' })).toBe(0)
      expect(await page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe(
        'datetime-local',
      )
      await page.keyboard.press('Backspace')
      await press(page, 'Create')
      await sees(page, 'Created.')
      expect(await authors.count({ name: 'Ada Half' })).toBe(1)
    })

    it('in a change of many records, and in a filter', async () => {
      const page = await lib.entered(PEOPLE.admin)
      await press(page, 'Filters')
      await choose(page, 'Field', 'Pages')
      await type(page, 'Value', '5e')
      await page.keyboard.press('Tab')
      await sees(page, UNREADABLE)
      await expect.poll(() => mistake(page, 'Value'), PATIENCE).toBe(UNREADABLE)
      await choose(page, 'Field', 'Created at')
      await (await field(page, 'Value')).focus()
      await page.keyboard.type('12')
      await page.keyboard.press('Enter')
      await sees(page, UNREADABLE)
      await press(page, 'Remove filter')

      await (await field(page, 'Select Atlas 1')).click()
      await press(page, 'Change a field')
      await choose(page, 'Field to change', 'Pages')
      await type(page, 'Pages', '5e')
      await press(page, 'Change')
      await sees(page, UNREADABLE)
      expect((await lib.book('Atlas 1')).pages).toBe(100)
    })
  })

  describe('A form that lacks something', () => {
    it('says it at the fields before anything is sent, and leads there', async () => {
      const page = await lib.entered(PEOPLE.editor)
      let posts = 0
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith('/books')) posts += 1
      })
      await follow(page, 'Create')
      await press(page, 'Create')
      await sees(page, 'Some fields need another value.')
      await expect.poll(() => mistake(page, 'Title'), PATIENCE).toBe('Enter a value.')
      await expect.poll(() => mistake(page, 'Author'), PATIENCE).toBe('Enter a value.')
      expect(await focused(page)).toContain('Title')
      expect(posts).toBe(0)
    })

    it('leads to what the app says where that is at no field', async () => {
      const page = await lib.entered(PEOPLE.editor)
      await follow(page, 'Atlas 4')
      await write(page, 'Price', '1')
      await page.setRequestInterception(true)
      page.on('request', (request) => {
        if (request.method() !== 'PATCH') return void request.continue()
        const body = JSON.stringify({ success: false, error: 'Not like this.', requestId: 'x' })
        return void request.respond({ status: 400, contentType: 'application/json', body })
      })
      await press(page, 'Save')
      await sees(page, 'Not like this.')
      expect(await focused(page)).toBe('Not like this.')
    })
  })

  describe('What is typed while the list is not there yet', () => {
    /** Types at the moment when something of what was typed before is drawn, and the page is not done with it. */
    const typesAt = (page: Page, selector: string, letter: string) =>
      page.evaluate(
        (wanted, text) => {
          new MutationObserver((_, observer) => {
            if (document.querySelector(wanted) === null) return
            observer.disconnect()
            document.execCommand('insertText', false, text)
          }).observe(document.body, { attributes: true, childList: true, subtree: true })
        },
        selector,
        letter,
      )
    const written = async (page: Page, label: string) =>
      (await field(page, label)).evaluate((one) => one.value)

    it('stays in a filter', async () => {
      const page = await lib.entered(PEOPLE.reader)
      await press(page, 'Filters')
      await choose(page, 'Field', 'Pages')
      await (await field(page, 'Value')).focus()
      await typesAt(page, 'button .count', 'e')
      await page.keyboard.type('5')
      await page.waitForFunction(() => document.querySelector('input:focus:invalid') !== null)
      await page.waitForFunction(() => /filter=%7B%7D/.test(location.hash))
      await page.keyboard.press('Tab')
      await sees(page, UNREADABLE)
      expect(await page.$$('.rule')).toHaveLength(1)
    })

    it('stays in the search', async () => {
      const page = await lib.entered(PEOPLE.reader)
      await (await field(page, 'Search Books')).focus()
      await typesAt(page, '.scroll[aria-busy="true"]', 'e')
      await page.keyboard.type('Jad')
      await page.waitForFunction(() => location.hash.includes('Jad'))
      await expect.poll(() => written(page, 'Search Books'), PATIENCE).toBe('Jade')
      await page.waitForFunction(() => location.hash.includes('Jade'))
      await page.goBack()
      await page.waitForFunction(() => !location.hash.includes('Jade'))
      await expect.poll(() => written(page, 'Search Books'), PATIENCE).toBe('Jad')
    })

    it('is what the address has after a step back at once', async () => {
      const page = await lib.entered(PEOPLE.reader)
      await write(page, 'Search Books', 'Jad')
      await page.waitForFunction(() => location.hash.includes('Jad'))
      await sees(page, '6 records')
      await page.evaluate(() => {
        const push = history.pushState.bind(history)
        history.pushState = (...given) => {
          push(...given)
          if (location.hash.includes('Jade')) history.back()
        }
      })
      await page.keyboard.type('e')
      await expect.poll(() => written(page, 'Search Books'), PATIENCE).toBe('Jade')
      await expect.poll(() => written(page, 'Search Books'), PATIENCE).toBe('Jad')
    })

    it('is what the address has after a step back', async () => {
      const page = await lib.entered(PEOPLE.reader)
      await press(page, 'Filters')
      await choose(page, 'Field', 'Pages')
      await write(page, 'Value', '100')
      await sees(page, '1 record')
      await write(page, 'Value', '200')
      await page.waitForFunction(() => location.hash.includes('200'))
      await page.goBack()
      await expect.poll(() => written(page, 'Value'), PATIENCE).toBe('100')
    })
  })

  describe('A list', () => {
    it('offers no order that the app refuses, and keeps its head if it does', async () => {
      const page = await lib.entered(PEOPLE.reader)
      expect(await page.$$eval('th button', (all) => all.map((one) => one.textContent))).toEqual([
        'Title',
        'Pages',
      ])
      await visit(page, lib.base, '/books?sort=status&order=ASC&filter=%7B%7D&page=1&perPage=10')
      await page.reload()
      await found(page, 'td a.name')
      await page.setRequestInterception(true)
      page.on('request', (request) => {
        if (!request.url().includes('sort=pages')) return void request.continue()
        const body = JSON.stringify({ success: false, error: 'No such order.', requestId: 'x' })
        return void request.respond({ status: 400, contentType: 'application/json', body })
      })
      await press(page, 'Pages')
      await sees(page, 'No such order.')
      await press(page, 'Title')
      await found(page, 'td a.name')
    })
  })

  it('An address with a date that is none is a list that says so', async () => {
    const page = await lib.entered(PEOPLE.reader)
    const rules = [{ field: 'createdAt', operator: 'gte', value: 'yesterday' }]
    await visit(page, lib.base, `/books?filter=${encodeURIComponent(JSON.stringify({ rules }))}`)
    const said = await found(page, '.notice.error')
    expect(await said.evaluate((one) => one.textContent)).not.toContain('could not be loaded')
    await press(page, 'Remove filter')
    await found(page, 'td a.name')
  })

  it('An address with a filter that the app lacks is no list of all records', async () => {
    const page = await lib.entered(PEOPLE.reader)
    const rules = [{ field: 'colour', operator: 'eq', value: 'red' }]
    await visit(page, lib.base, `/books?filter=${encodeURIComponent(JSON.stringify({ rules }))}`)
    await sees(page, "'colour'")
    const list = await field(page, 'Field')
    expect(await list.evaluate((one) => one.selectedOptions[0]?.text)).toBe('colour')
    await press(page, 'Remove filter')
    await found(page, 'td a.name')
  })

  it('A file whose name has a % is shown by its name', async () => {
    const page = await lib.entered(PEOPLE.reader)
    const { _id } = await lib.book('Atlas 6')
    await lib.books.update(_id, { cover: 'https://files.example.com/50% off.pdf' })
    await visit(page, lib.base, `/books/record/${_id}`)
    await sees(page, '50% off.pdf')
  })

  describe('Escape', () => {
    it('gives the focus back to what opened a window', async () => {
      const page = await lib.entered(PEOPLE.admin)
      const open = async (name: string) => {
        await (await found(page, `aria/${name}[role="button"]`)).focus()
        await page.keyboard.press('Enter')
        await found(page, 'dialog')
        await page.keyboard.press('Escape')
        await page.waitForFunction(() => document.querySelector('dialog') === null)
        expect(await focused(page)).toBe(name)
      }
      await (await field(page, 'Select Atlas 1')).click()
      for (const name of ['Delete', 'Change a field', 'Columns']) await open(name)
      // Without a selection there is no button to come back to.
      await press(page, 'Delete')
      await click(page, 'dialog button.danger')
      await sees(page, '59 records')
      await page.waitForFunction(() => document.querySelector('.bulk') === null)
      expect(await focused(page)).toBe('1 record changed.')
      await follow(page, 'Atlas 2')
      await open('Delete')
    })

    it('closes the menu of a narrow screen', async () => {
      const page = await lib.entered(PEOPLE.reader)
      await page.setViewport({ width: 360, height: 740 })
      await press(page, 'Menu')
      await found(page, 'aside.open')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Escape')
      await page.waitForFunction(() => document.querySelector('aside.open') === null)
      expect(await focused(page)).toBe('Menu')
    })
  })

  it('A save keeps the focus', async () => {
    const page = await lib.entered(PEOPLE.editor)
    await follow(page, 'Atlas 2')
    await write(page, 'Price', '21')
    await click(page, 'button[type="submit"]')
    await sees(page, 'Saved.')
    expect(await focused(page)).toBe('Save')
  })
})
