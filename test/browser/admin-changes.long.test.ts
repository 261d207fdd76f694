import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { PEOPLE } from '../admin/apps.ts'
import { Library } from '../admin/library.ts'
import {
  click,
  column,
  field,
  follow,
  found,
  has,
  press,
  sees,
  visit,
  write,
} from '../admin/screens.ts'
import { withService } from '../services/shared.ts'

await withService('chromium', () => {
  const lib = new Library()
  const books = () => lib.books
  const book = (title: string) => lib.book(title)

  describe('Lists that are followed', () => {
    it('show what others do, with a mark at the rows', async () => {
      const { page } = await lib.signedIn(PEOPLE.reader)
      await sees(page, '60 records')
      await found(page, '.live')
      const { _id } = await book('Atlas 2')
      await books().update(_id, { pages: 4321 })
      await page.waitForFunction(() => {
        const row = document.querySelector('tr.fresh')
        return row?.textContent?.includes('Atlas 2changed') && row.textContent.includes('4321')
      })
      const { author } = await book('Atlas 1')
      await books().insert({ title: 'Atlas 9', author, status: 'draft', isLent: false })
      await page.waitForFunction(() =>
        [...document.querySelectorAll('tr.fresh')].some((row) =>
          row.textContent?.includes('Atlas 9new'),
        ),
      )
      await sees(page, '61 records')
      await books().delete(_id)
      await sees(page, '60 records')
      expect((await column(page, 'Title')).filter((title) => /Atlas [29]/.test(title))).toEqual([
        'Atlas 9new',
      ])
      // A search through references cannot be followed, and is a list as any other.
      await write(page, 'Search Books', 'Lind')
      await sees(page, '19 records')
      await page.waitForFunction(() => document.querySelector('.live') === null)
      await page.browserContext().close()
    })
  })

  describe('Of two changes of a record', () => {
    /** Changes what somebody else changes meanwhile, and saves it. */
    async function saved(page: Page, title: string): Promise<void> {
      await follow(page, title)
      await write(page, 'Price', '33')
      const { _id } = await book(title)
      await books().update(_id, { price: 44 })
      await press(page, 'Save')
    }

    it('the other one can be chosen', async () => {
      const { page } = await lib.signedIn(PEOPLE.editor)
      await saved(page, 'Atlas 3')
      await click(page, '.conflict input')
      await click(page, 'dialog button.primary')
      await page.waitForFunction(() => document.querySelector('.footer .muted') === null)
      expect(await has(page, 'dialog, .notice')).toBe(false)
      expect(await (await field(page, 'Price')).evaluate((one) => one.value)).toBe('44')
      expect(await book('Atlas 3')).toMatchObject({ price: 44 })
      await page.browserContext().close()
    })

    it('none is written over another without a choice, after "Cancel" and while there is a third', async () => {
      const { page } = await lib.signedIn(PEOPLE.editor)
      await saved(page, 'Atlas 5')
      await click(page, '.conflict ~ .buttons button:not(.primary)')
      await page.waitForFunction(() => document.querySelector('dialog') === null)
      await press(page, 'Save')
      await found(page, '.conflict')
      expect(await book('Atlas 5')).toMatchObject({ price: 44 })
      await books().update((await book('Atlas 5'))._id, { price: 55 })
      await click(page, 'dialog button.primary')
      await page.waitForFunction(() =>
        document.querySelector('.conflict')?.textContent?.includes('55'),
      )
      await click(page, 'dialog button.primary')
      await sees(page, 'Saved.')
      expect(await book('Atlas 5')).toMatchObject({ price: 33 })
      await page.browserContext().close()
    })

    it('the own one can be saved again after the other could not be read', async () => {
      const { page } = await lib.signedIn(PEOPLE.editor)
      let isOff = false
      await page.setRequestInterception(true)
      page.on('request', (request) => {
        if (isOff && request.method() === 'GET') return void request.abort()
        if (request.method() === 'PATCH') isOff = true
        return void request.continue()
      })
      await saved(page, 'Atlas 4')
      await sees(page, 'The server cannot be reached.')
      page.removeAllListeners('request')
      await page.setRequestInterception(false)
      // What is pressed while the page still saves has no effect.
      await found(page, 'button[type="submit"][aria-disabled="false"]')
      await press(page, 'Save')
      await found(page, '.conflict')
      await page.browserContext().close()
    })
  })

  describe('The history of a record', () => {
    it('says what happened, and makes the record what it was', async () => {
      const { page } = await lib.signedIn(PEOPLE.editor)
      await follow(page, 'Birds 1')
      await write(page, 'Price', '33')
      await press(page, 'Save')
      await sees(page, 'Saved.')
      await write(page, 'Price', '44')
      await press(page, 'Save')
      await page.waitForFunction(() => document.querySelector('.footer .muted') === null)
      await click(page, '.history summary')
      await page.waitForFunction(() =>
        document.querySelector('.changes li')?.textContent?.includes('44'),
      )
      const said = await page.$$eval('.changes li', (all) => all.map((one) => one.textContent))
      expect(said).toHaveLength(3)
      expect(said[0]).toMatch(/Changed.*you.*Price.*33.*44/)
      expect(said[2]).toMatch(/Created.*nobody signed in/)
      await page.evaluate(() => {
        document.querySelectorAll('.changes li')[1]?.querySelector('button')?.click()
      })
      await click(page, 'dialog button.primary')
      await page.waitForFunction(
        () =>
          [...document.querySelectorAll('input')].some(
            (one) => one.labels?.[0]?.textContent === 'Price' && one.value === '33',
          ) && document.querySelectorAll('.changes li').length === 4,
      )
      expect(await book('Birds 1')).toMatchObject({ price: 33 })
      await page.browserContext().close()
    })

    it('is read by readers, who restore nothing', async () => {
      const { page } = await lib.signedIn(PEOPLE.reader)
      await follow(page, 'Birds 2')
      await click(page, '.history summary')
      await found(page, '.changes li')
      expect(await has(page, '.changes button')).toBe(false)
      await page.browserContext().close()
    })

    it('brings back what was deleted', async () => {
      const { page } = await lib.signedIn(PEOPLE.admin)
      const { _id } = await book('Birds 3')
      await visit(page, lib.base, `/books/record/${_id}`)
      await field(page, 'Title')
      await press(page, 'Delete')
      await click(page, 'dialog button.danger')
      await sees(page, 'Deleted.')
      await follow(page, 'History')
      await sees(page, 'There is no such record.')
      await click(page, '.changes li:first-child button')
      await sees(page, 'The record becomes what it was before it was deleted')
      await click(page, 'dialog button.primary')
      await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Birds 3')
      expect(await books().findOne({ _id })).toMatchObject({ title: 'Birds 3' })
      await page.browserContext().close()
    })
  })
})
