import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { PASSWORD, PEOPLE } from '../admin/apps.ts'
import { Library } from '../admin/library.ts'
import {
  choose,
  click,
  column,
  field,
  follow,
  found,
  has,
  press,
  sees,
  signIn,
  signOut,
  write,
} from '../admin/screens.ts'
import { withService } from '../services/shared.ts'

await withService('chromium', () => {
  const lib = new Library()
  const books = () => lib.books
  const book = (title: string) => lib.book(title)

  describe('Lists', () => {
    it('narrow by all rules or by any, and keep it in the address', async () => {
      const { page } = await lib.signedIn(PEOPLE.editor)
      await press(page, 'Filters')
      await choose(page, 'Field', 'Pages')
      await choose(page, 'Condition', 'is more than')
      await write(page, 'Value', '500')
      await sees(page, '2 records')
      await press(page, 'Add filter')
      await (await found(page, '.rule + .rule select')).select('title')
      await (await found(page, '.rule + .rule input')).type('Atlas 1\n')
      await sees(page, '0 records')
      await choose(page, 'Records match', 'any of them')
      await sees(page, '3 records')
      await page.reload()
      await sees(page, '3 records')
      await page.browserContext().close()
    })

    it('begin where their address says, and are as they were left after a look at a record', async () => {
      const { page } = await lib.signedIn(PEOPLE.editor)
      const titles = () => column(page, 'Title')
      await found(page, 'td a.name')
      const [first] = await titles()
      await press(page, 'Pages')
      await press(page, 'Pages')
      await expect.poll(async () => (await titles())[0]).not.toBe(first)
      const [most = ''] = await titles()
      await follow(page, most)
      await press(page, 'Cancel')
      await page.waitForFunction(() => location.hash.includes('order=DESC'))
      expect((await titles())[0]).toBe(most)
      await page.goto(`${page.url().split('#')[0]}#/books`)
      await expect.poll(async () => (await titles())[0]).toBe(first)
      await page.goBack()
      await expect.poll(async () => (await titles())[0]).toBe(most)
      await page.browserContext().close()
    })

    it('keep their columns and their order', async () => {
      const { page } = await lib.signedIn(PEOPLE.editor)
      await press(page, 'Columns')
      await (await field(page, 'Price')).click()
      await (await field(page, 'Status')).click()
      await press(page, 'Close')
      await press(page, 'Pages')
      await press(page, 'Pages')
      await sees(page, 'Price')
      await page.waitForFunction(
        () => document.querySelector('td[data-label="Pages"]')?.textContent === '513',
      )
      await page.reload()
      await found(page, 'td a.name')
      expect(await column(page, 'Price')).toContain('68.5')
      expect(await column(page, 'Status')).toEqual([])
      await signOut(page, 'Sign out')
      await signIn(page, PEOPLE.reader)
      await found(page, 'td a.name')
      expect(await column(page, 'Price')).not.toEqual([])
      await page.browserContext().close()
    })

    it('change and delete many records at once', async () => {
      const { page } = await lib.signedIn(PEOPLE.admin)
      await write(page, 'Search Books', 'Jade')
      await sees(page, '6 records')
      await (await field(page, 'Select all on this page')).click()
      await press(page, 'Change a field')
      await choose(page, 'Field to change', 'Price')
      await write(page, 'Price', '77')
      await press(page, 'Change')
      await sees(page, '6 records changed.')
      expect(await books().count({ price: 77 })).toBe(6)

      await (await field(page, 'Select Jade 1')).click()
      await (await field(page, 'Select Jade 2')).click()
      await press(page, 'Delete')
      await click(page, 'dialog button.danger')
      await sees(page, '4 records')
      expect(await books().count({ price: 77 })).toBe(4)
      await page.browserContext().close()
    })

    it('draw groups where the router makes them, and export what they show', async () => {
      const { page } = await lib.signedIn(PEOPLE.reader)
      await press(page, 'Chart')
      await choose(page, 'Group by', 'Author')
      await found(page, '.chart rect')
      await choose(page, 'Show', 'Sum pages')
      await sees(page, 'Otto Lind')
      await write(page, 'Search Books', 'Atlas')
      await sees(page, '6 records')
      const csv = page.evaluate(
        () =>
          new Promise<string>((resolve) => {
            const made = URL.createObjectURL
            URL.createObjectURL = (file) => {
              void (file as Blob).text().then(resolve)
              return made(file)
            }
          }),
      )
      await press(page, 'Export CSV')
      const lines = (await csv).trim().split('\r\n')
      expect(lines).toHaveLength(7)
      expect(lines[1]).toContain('Atlas 1')
      await page.browserContext().close()
    })
  })

  describe('Forms', () => {
    it('write every kind of field', async () => {
      const { page } = await lib.signedIn(PEOPLE.editor)
      await follow(page, 'Create')
      await write(page, 'Title', 'Kites')
      await write(page, 'Author', 'Pia')
      await click(page, '[role="option"]')
      await write(page, 'Price', '12.5')
      await (await field(page, 'Is lent')).click()
      const [tags, chapters] = await page.$$('fieldset.group > button')
      await tags?.click()
      await write(page, 'Tags 1', 'air')
      await chapters?.click()
      const inner = await page.$$('.item .group input')
      await inner[0]?.type('Wind')
      await inner[1]?.type('7')
      await write(page, 'Room', 'North')
      await write(page, 'Extra', '{"a": [1]')
      await sees(page, 'This is not valid JSON.')
      await (await field(page, 'Extra')).type('}')
      const cover = await page.waitForSelector('input[type="file"]')
      const file = join(tmpdir(), `cover-${process.pid}.png`)
      await sharp({ create: { width: 30, height: 40, channels: 3, background: 'teal' } }).toFile(
        file,
      )
      await (cover as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(file)
      await found(page, '.files img')
      await press(page, 'Create')
      await sees(page, 'Created.')
      const made = await book('Kites')
      expect(made).toMatchObject({
        status: 'draft',
        price: 12.5,
        isLent: true,
        tags: ['air'],
        chapters: [{ title: 'Wind', page: 7 }],
        place: { room: 'North' },
        extra: { a: [1] },
        cover: expect.stringContaining('covers/'),
      })
      await page.waitForFunction(
        () => (document.querySelector('.files img') as HTMLImageElement)?.naturalWidth > 0,
      )
      await page.browserContext().close()
    })

    it('offer what a value may become, and say what the app refuses at its place', async () => {
      const { page } = await lib.signedIn(PEOPLE.editor)
      await follow(page, 'Atlas 3')
      const status = await field(page, 'Status')
      expect(await status.$$eval('option', (all) => all.map((one) => one.text))).toEqual([
        'draft',
        'review',
      ])
      await write(page, 'Isbn', '978-1')
      await press(page, 'Save')
      await found(page, '.field .error, .notice.error')
      expect((await book('Atlas 3')).isbn).toBe('978-20')
      await page.browserContext().close()
    })

    it('keep unsaved changes over a reload', async () => {
      const { page } = await lib.signedIn(PEOPLE.editor)
      await follow(page, 'Birds 1')
      await write(page, 'Price', '123')
      await page.reload()
      await sees(page, 'Your unsaved changes are back.')
      expect(await (await field(page, 'Price')).evaluate((one) => one.value)).toBe('123')
      await press(page, 'Discard them')
      expect(await (await field(page, 'Price')).evaluate((one) => one.value)).not.toBe('123')
      await page.browserContext().close()
    })

    it('show theirs beside mine when somebody was faster', async () => {
      const { page } = await lib.signedIn(PEOPLE.editor)
      await follow(page, 'Birds 2')
      await write(page, 'Price', '55')
      await write(page, 'Summary', 'mine')
      const { _id } = await book('Birds 2')
      await books().update(_id, { price: 44, pages: 222 })
      await press(page, 'Save')
      await sees(page, 'Someone else has changed this record')
      await page.evaluate(() => {
        const all = [...document.querySelectorAll('dialog fieldset')]
        const price = all.find((one) => one.querySelector('legend')?.textContent === 'Price')
        price?.querySelector('input')?.click()
      })
      await click(page, 'dialog button.primary')
      await sees(page, 'Saved.')
      expect(await book('Birds 2')).toMatchObject({ price: 44, pages: 222, summary: 'mine' })
      await page.browserContext().close()
    })

    it('tell of others also after a reload', async () => {
      const { page } = await lib.signedIn(PEOPLE.editor)
      await follow(page, 'Birds 4')
      await write(page, 'Price', '55')
      const { _id } = await book('Birds 4')
      await books().update(_id, { price: 44 })
      await page.reload()
      await sees(page, 'Your unsaved changes are back.')
      await press(page, 'Save')
      await sees(page, 'Someone else has changed this record')
      await click(page, 'dialog button.primary')
      await sees(page, 'Saved.')
      expect(await book('Birds 4')).toMatchObject({ price: 55 })
      await page.browserContext().close()
    })

    it('follow references both ways', async () => {
      const { page } = await lib.signedIn(PEOPLE.reader)
      await click(page, 'td[data-label="Author"] a')
      await sees(page, 'Related')
      await click(page, '.related a')
      await page.waitForFunction(() => location.hash.startsWith('#/books'))
      await page.waitForFunction(
        () =>
          new Set(
            [...document.querySelectorAll('td[data-label="Author"]')].map((one) => one.textContent),
          ).size === 1,
      )
      await page.browserContext().close()
    })

    it('take away what turned out to be forbidden', async () => {
      const { page } = await lib.signedIn(PEOPLE.editor)
      await follow(page, 'Birds 3')
      await write(page, 'Price', '1')
      await page.setRequestInterception(true)
      page.on('request', (request) => {
        if (request.method() !== 'PATCH') return void request.continue()
        const body = JSON.stringify({ success: false, error: 'Not on Sundays.', requestId: 'x' })
        return void request.respond({ status: 403, contentType: 'application/json', body })
      })
      await press(page, 'Save')
      await sees(page, 'You may read this record, but not change it.')
      await sees(page, 'Not on Sundays.')
      expect(await has(page, 'aria/Save[role="button"]')).toBe(false)
      await page.browserContext().close()
    })
  })

  describe('Accounts', () => {
    it('get a second factor, sign in with it, and sign out everywhere', async () => {
      const { page } = await lib.signedIn(PEOPLE.reader)
      await follow(page, 'reader of the library')
      await press(page, 'Set up an authenticator app')
      const secret = (await (await found(page, 'pre')).evaluate((one) => one.textContent)) ?? ''
      const totp = new TOTP({ secret: Secret.fromBase32(secret.trim()) })
      await write(page, 'Code of your authenticator app', totp.generate())
      await press(page, 'Confirm')
      await sees(page, 'Keep these codes in a safe place.')
      const codes = (await (await found(page, 'pre')).evaluate((one) => one.textContent)) ?? ''
      await signOut(page, 'Sign out everywhere')
      await signIn(page, PEOPLE.reader)
      await sees(page, 'One more step')
      await press(page, 'Recovery code')
      await write(page, 'Recovery code', codes.split('\n')[0] ?? '')
      await press(page, 'Confirm')
      await sees(page, ' records')
      await page.browserContext().close()
    })

    it('have keys, and a wrong password is said', async () => {
      const { page } = await lib.opened()
      await write(page, 'E-mail or user name', PEOPLE.editor)
      await write(page, 'Password', 'wrong')
      await press(page, 'Sign in')
      await sees(page, 'Invalid credentials.')
      await write(page, 'Password', PASSWORD)
      await press(page, 'Sign in')
      await follow(page, 'editor of the library')
      await write(page, 'Name', 'a script')
      await press(page, 'New API key')
      await sees(page, 'Copy the key now.')
      const key = await (await found(page, 'pre')).evaluate((one) => one.textContent)
      expect(key).toMatch(/^fg_/)
      await page.browserContext().close()
    })

    it('are managed by admins', async () => {
      const { page } = await lib.signedIn(PEOPLE.admin)
      await follow(page, 'Users')
      await follow(page, 'editor of the library')
      await choose(page, 'Role', 'admin')
      await press(page, 'Change')
      await sees(page, 'Saved.')
      await choose(page, 'Role', 'editor')
      await press(page, 'Change')
      await press(page, 'End sessions')
      await sees(page, 'Ended.')
      await page.browserContext().close()
    })
  })

  it('speaks German', async () => {
    const { page } = await lib.opened()
    await choose(page, 'Language', 'Deutsch')
    await found(page, 'aria/Anmelden[role="button"]')
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('de')
    await page.browserContext().close()
  })
})
