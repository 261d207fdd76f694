import type { Page } from 'puppeteer-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { admin } from '../../packages/admin/src/index.ts'
import { type App, createApp, createRouter, defineModel, ref } from '../../src/index.ts'
import { Served } from '../admin/library.ts'
import { choose, click, field, follow, found, press, sees, write } from '../admin/screens.ts'
import { withService } from '../services/shared.ts'

const LONG = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerk'
const RIGHT_TO_LEFT = '\u202E'

const Note = defineModel('Note', {
  fields: {
    title: z.string(),
    body: z.string().optional(),
    count: z.number().int().optional(),
    at: z.date().optional(),
    extra: z.unknown().optional(),
    parent: ref('Note').optional(),
    mood: z.enum(['good', 'bad']).default('good'),
    status: z.enum(['draft', 'review', 'done']).default('draft'),
    [`${LONG}Leitungsstelle`]: z.string().optional(),
    rooms: z
      .array(z.object({ door: z.object({ lock: z.object({ key: z.string().optional() }) }) }))
      .optional(),
  },
  initial: { status: ['draft'] },
})
const Link = defineModel('Link', { fields: { from: ref('Note'), to: ref('Note').optional() } })
const Mark = defineModel('Mark', { fields: { url: z.url(), weight: z.number() } })
const Account = defineModel('Account', { fields: { name: z.string() } })

await withService('chromium', () => {
  const store = sqliteStore()
  const logger = { ...console, warn() {}, info() {} }
  const app = createApp({ store, logger })
  app
    .mount(
      '/notes',
      createRouter({ model: Note, middlewares: [], search: ['title'], filterableFields: ['at'] }),
    )
    .mount('/links', createRouter({ model: Link, middlewares: [] }))
    .mount('/marks', createRouter({ model: Mark, middlewares: [] }))
    .mount('/account', createRouter({ model: Account, middlewares: [] }))
    .mount('/admin', admin())
  const notes = app.store.collection(Note)
  const served = new Served(() => app as unknown as App)

  async function shown(path: string, width = 1200, height = 800): Promise<Page> {
    const { page } = await served.chromium.open(undefined, await served.chromium.user())
    onTestFinished(() => page.browserContext().close())
    await page.setViewport({ width, height })
    await page.goto(`${served.base}#${path}`)
    return page
  }
  async function note(values: object): Promise<string> {
    return (await notes.insert({ title: 'Note', status: 'draft', ...values } as never))._id
  }
  const inForm = async (values: object, width?: number, height?: number) => {
    const id = await note(values)
    const page = await shown(`/notes/record/${id}`, width, height)
    await field(page, 'Title')
    return { id, page }
  }
  /** Comes back to the window, as after a look at another one. */
  const comesBack = (page: Page) =>
    page.evaluate(() => void window.dispatchEvent(new Event('visibilitychange')))
  /** Whether nothing is wider than the window. */
  const fits = (page: Page) =>
    page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)

  describe('A form', () => {
    it('keeps the ends of lines of a text without a limit', async () => {
      const { id, page } = await inForm({ body: 'one\ntwo' })
      await (await field(page, 'Body')).focus()
      await page.keyboard.down('Control')
      await page.keyboard.press('End')
      await page.keyboard.up('Control')
      await page.keyboard.type('!')
      await press(page, 'Save')
      await sees(page, 'Saved.')
      expect((await notes.findById(id))?.body).toBe('one\ntwo!')
    })

    it('shows what the record is by now, in JSON too', async () => {
      const { id, page } = await inForm({ extra: { a: 1 } })
      await notes.update(id, { extra: { a: 2 } })
      await comesBack(page)
      const extra = await field(page, 'Extra')
      await expect.poll(() => extra.evaluate((one) => one.value)).toContain('2')
    })

    it('stays as it is while the record cannot be read again', async () => {
      const { page } = await inForm({})
      await write(page, 'Title', 'typed')
      await page.setOfflineMode(true)
      await comesBack(page)
      await sees(page, 'The server cannot be reached')
      const title = await page.$('input[type="text"]')
      expect(await title?.evaluate((one) => one.value)).toBe('typed')
      await page.setOfflineMode(false)
      await comesBack(page)
      await page.waitForFunction(() => document.querySelector('.notice.error') === null)
    })

    it('shows a choice that the model no longer has', async () => {
      const fields = { ...Note.fields, mood: z.string() }
      const before = createApp({ store, logger })
      const old = before.store.collection(defineModel('Note', { fields }))
      const { _id: id } = await old.insert({
        title: 'Old',
        status: 'draft',
        mood: 'retired',
      } as never)
      const page = await shown(`/notes/record/${id}`)
      const mood = await field(page, 'Mood')
      expect(await mood.evaluate((one) => one.value)).toBe('retired')
      await choose(page, 'Mood', 'good')
      await press(page, 'Save')
      await sees(page, 'Saved.')
      expect((await notes.findById(id))?.mood).toBe('good')
    })

    it('has the number that was typed, wherever the wheel is turned', async () => {
      const { page } = await inForm({ count: 5 })
      const count = await field(page, 'Count')
      await count.click()
      await page.mouse.wheel({ deltaY: 100 })
      await page.waitForFunction(() => scrollY > 0)
      expect(await count.evaluate((one) => one.value)).toBe('5')
    })
  })

  describe('A reference', () => {
    it('shows the record that keys have come to', async () => {
      for (let at = 0; at < 15; at += 1) await note({ title: `Offered ${at}` })
      const { page } = await inForm({})
      await (await field(page, 'Parent')).focus()
      await page.keyboard.type('Offered')
      await page.waitForFunction(() => document.querySelectorAll('[role="option"]').length === 15)
      for (let at = 0; at < 12; at += 1) await page.keyboard.press('ArrowDown')
      const isSeen = () =>
        page.$eval('[aria-selected="true"]', (one) => {
          const { top = 0, bottom = 0 } = one.parentElement?.getBoundingClientRect() ?? {}
          const own = one.getBoundingClientRect()
          return own.top >= top - 1 && own.bottom <= bottom + 1
        })
      await expect.poll(isSeen).toBe(true)
    })

    it('says that nothing was found, and why', async () => {
      const { page } = await inForm({})
      await (await field(page, 'Parent')).focus()
      await page.keyboard.type('zzz')
      await sees(page, 'Nothing matches.')
      await page.setOfflineMode(true)
      await page.keyboard.type('z')
      await sees(page, 'The server cannot be reached')
    })
  })

  describe('A list', () => {
    it('leads to records that begin with what leads elsewhere', async () => {
      const from = await note({})
      const link = await app.store.collection(Link).insert({ from })
      const mark = await app.store
        .collection(Mark)
        .insert({ url: 'https://example.com/', weight: 7 })
      const links = await shown('/links')
      await follow(links, link._id)
      await field(links, 'From')
      const marks = await shown('/marks')
      await found(marks, 'td a')
      expect(await marks.$$('a a')).toEqual([])
      await follow(marks, '7')
      await field(marks, 'Weight')
      expect(marks.url()).toContain(`/marks/record/${mark._id}`)
    })

    it('leads to a record whose name nobody sees', async () => {
      const id = await note({ title: '\u200B\u202E' })
      const page = await shown('/notes?perPage=100')
      await follow(page, id)
      await field(page, 'Title')
    })

    it('is narrowed to one time, wherever its address is opened', async () => {
      await note({ title: 'Timed', at: new Date('2026-03-29T01:30:00Z') })
      await note({ title: 'Not timed' })
      const page = await shown('/notes?filter=%7B%7D')
      await page.emulateTimezone('Europe/Berlin')
      await press(page, 'Filters')
      await choose(page, 'Field', 'At')
      await choose(page, 'Condition', 'is')
      const value = await found(page, 'input[type="datetime-local"]')
      // As React hears of it.
      await value.evaluate((one) => {
        const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value') ?? {}
        set?.call(one, '2026-03-29T03:30')
        one.dispatchEvent(new Event('input', { bubbles: true }))
      })
      await sees(page, '1 record')
      const path = new URL(page.url()).hash.slice(1)
      const elsewhere = await shown('/notes')
      await elsewhere.emulateTimezone('America/New_York')
      await elsewhere.goto(`${served.base}#${path}`)
      await sees(elsewhere, '1 record')
      await sees(elsewhere, 'Timed')
      expect(await (await field(elsewhere, 'Value')).evaluate((one) => one.value)).toBe(
        '2026-03-28T21:30',
      )
    })

    /** A list whose address narrows it to a time, in Berlin; the focus is in the value. */
    const timed = async () => {
      const rules = [{ field: 'at', operator: 'eq', value: '2026-04-29T00:30:00.000Z' }]
      const page = await shown(`/notes?filter=${encodeURIComponent(JSON.stringify({ rules }))}`)
      await page.emulateTimezone('Europe/Berlin')
      await page.reload()
      const value = await field(page, 'Value')
      await value.focus()
      return { page, value }
    }

    it('is narrowed to the time that was typed, whatever the day was on the way', async () => {
      const { page, value } = await timed()
      // With the month it is the 29th of March, where 2:30 is skipped.
      await page.keyboard.type('0328')
      await page.waitForFunction(() => location.hash.includes('2026-03-28T01%3A30%3A00'))
      expect(await value.evaluate((one) => one.value)).toBe('2026-03-28T02:30')
      await (await field(page, 'Condition')).focus()
      await value.focus()
      await page.keyboard.type('0329')
      await (await field(page, 'Condition')).focus()
      await page.waitForFunction(() => location.hash.includes('2026-03-29T01%3A30%3A00'))
      await page.waitForFunction((one) => one.value === '2026-03-29T03:30', {}, value)
    })

    it('keeps a rule that its address has brought while its value is typed anew', async () => {
      const { page, value } = await timed()
      // A month of 0 is none: nothing narrows the list then.
      await page.keyboard.type('0')
      await sees(page, 'Timed')
      expect(await value.evaluate((one) => one === document.activeElement)).toBe(true)
      await page.keyboard.type('328')
      await page.waitForFunction(() => location.hash.includes('2026-03-28T01%3A30%3A00'))
    })

    it('is there under the path of a screen of the page', async () => {
      await app.store.collection(Account).insert({ name: 'Ada & Sons' })
      const page = await shown('/')
      await follow(page, 'Account')
      await follow(page, 'Ada & Sons')
      await write(page, 'Name', 'Ada & Daughters')
      await press(page, 'Save')
      await sees(page, 'Saved.')
    })

    it('keeps what is selected on other pages, and changes it to any value', async () => {
      for (let at = 0; at < 12; at += 1) await note({ title: `Paged ${at}` })
      const page = await shown(`/notes?filter=${encodeURIComponent('{"q":"Paged"}')}&perPage=10`)
      await click(page, 'th.check input')
      await sees(page, '10 selected')
      await press(page, 'Next page')
      await sees(page, 'Page 2 of 2')
      await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 2)
      await click(page, 'th.check input')
      await sees(page, '12 selected')
      await press(page, 'Change a field')
      await choose(page, 'Field to change', 'Status')
      await choose(page, 'Status', 'review')
      await press(page, 'Change')
      await sees(page, '12 records changed.')
      expect(await notes.count({ status: 'review' } as never)).toBe(12)
    })
  })

  describe('Whatever is written in a record,', () => {
    it('what is written from right to left is so, and nothing around it', async () => {
      const { page } = await inForm({ title: `evil ${RIGHT_TO_LEFT}txt.exe`, body: 'שלום.' })
      const directions = await page.$$eval('h1, input[type="text"]', (all) =>
        all.map((one) => getComputedStyle(one).unicodeBidi),
      )
      expect(new Set(directions)).toEqual(new Set(['plaintext']))
      await press(page, 'Delete')
      const title = await found(page, 'dialog h2')
      expect(await title.evaluate((one) => one.textContent)).toBe(
        `Delete \u2068evil ${RIGHT_TO_LEFT}txt.exe\u2069?`,
      )
    })

    it('it is all to be read on a narrow screen', async () => {
      const rooms = [{ door: { lock: { key: 'k' } } }]
      const { page } = await inForm({ title: LONG.repeat(3), rooms }, 320)
      expect(await fits(page)).toBe(true)
      const key = await field(page, 'Key')
      expect((await key.boundingBox())?.width).toBeGreaterThan(100)
      await press(page, 'Delete')
      const title = await found(page, 'dialog h2')
      expect(await title.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true)
    })
  })

  describe('At 400 %', () => {
    /** Whether what has the focus can be seen: its first and its last line. */
    const isSeen = (page: Page) =>
      page.evaluate(() => {
        const focused = document.activeElement
        if (!focused) return false
        const { x, y, width, height } = focused.getBoundingClientRect()
        return [y + 2, y + height - 2].every(
          (at) => document.elementFromPoint(x + width / 2, at) === focused,
        )
      })

    it('the menu can be used while its settings are open', async () => {
      const page = await shown('/notes', 320, 256)
      await press(page, 'Menu')
      await click(page, '.settings summary')
      await (await field(page, 'Appearance')).focus()
      expect(await isSeen(page)).toBe(true)
      await page.focus('nav a[href="#/marks"]')
      expect(await isSeen(page)).toBe(true)
    })

    it('the bars leave most of the window to a form', async () => {
      const { page } = await inForm({}, 320, 256)
      await write(page, 'Title', 'x')
      await sees(page, 'Unsaved changes')
      const isCovered = await page.evaluate(() => {
        scrollTo(0, 300)
        return Array.from({ length: innerHeight }, (_, y) =>
          document.elementFromPoint(innerWidth / 2, y)?.closest('.bar, .footer'),
        ).filter(Boolean)
      })
      expect(isCovered.length).toBeLessThan(128)
    })
  })

  it.each(['none', 'active'])(
    'With colours of the system (%s), the record that keys have come to is marked',
    async (value) => {
      const { page } = await inForm({ title: 'Forced' })
      const device = await page.createCDPSession()
      const features = [{ name: 'forced-colors', value }]
      await device.send('Emulation.setEmulatedMedia', { features })
      await (await field(page, 'Parent')).focus()
      await page.keyboard.type('Forced')
      const option = await found(page, '[aria-selected="true"]')
      expect(await option.evaluate((one) => getComputedStyle(one).outlineStyle)).toBe('solid')
    },
  )

  it('What is printed is the record, without the menu', async () => {
    const { page } = await inForm({})
    await page.emulateMediaType('print')
    const seen = await page.$$eval('aside, .footer, h1, form', (all) =>
      all.filter((one) => one.checkVisibility()).map(({ tagName }) => tagName),
    )
    expect(seen).toEqual(['H1', 'FORM'])
  })
})
