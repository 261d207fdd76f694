import { describe, expect, it, onTestFinished } from 'vitest'
import { PEOPLE } from '../admin/apps.ts'
import { Library } from '../admin/library.ts'
import {
  column,
  field,
  follow,
  found,
  press,
  sees,
  signIn,
  visit,
  write,
} from '../admin/screens.ts'
import { withService } from '../services/shared.ts'

await withService('chromium', () => {
  const lib = new Library()

  /** Opens the page in a browser that has been changed by `change`. */
  async function openedIn(change: () => void) {
    const tab = await lib.chromium.open(undefined, await lib.chromium.user())
    onTestFinished(() => tab.page.browserContext().close())
    await tab.page.setViewport({ width: 1440, height: 900 })
    await tab.page.evaluateOnNewDocument(change)
    await tab.page.goto(lib.base)
    return tab
  }
  /** From now on, a storage takes nothing more. */
  const fill = () => {
    Storage.prototype.setItem = () => {
      throw new DOMException('full', 'QuotaExceededError')
    }
  }

  describe('Where the browser', () => {
    it('keeps nothing for pages, people sign in and write', async () => {
      const { page, problems } = await openedIn(() => {
        const get = () => {
          throw new DOMException('denied', 'SecurityError')
        }
        for (const name of ['localStorage', 'sessionStorage']) {
          Object.defineProperty(window, name, { get, configurable: true })
        }
        // Firefox refuses channels, too.
        globalThis.BroadcastChannel = get as never
        LockManager.prototype.request = async () => get()
        LockManager.prototype.query = async () => get()
      })
      await signIn(page, PEOPLE.editor)
      await follow(page, 'Atlas 1')
      await write(page, 'Price', '15')
      await press(page, 'Save')
      await sees(page, 'Saved.')
      await press(page, 'Sign out')
      await found(page, 'input[type="password"]')
      expect(problems).toEqual([])
    })

    it('is full, people sign in and write', async () => {
      const { page, problems } = await openedIn(fill)
      await signIn(page, PEOPLE.editor)
      await follow(page, 'Atlas 2')
      await write(page, 'Price', '25')
      await press(page, 'Save')
      await sees(page, 'Saved.')
      expect(problems).toEqual([])
    })

    it('is full by what they write, it stays in the form', async () => {
      const page = await lib.entered(PEOPLE.editor)
      await follow(page, 'Atlas 3')
      await page.evaluate(fill)
      await write(page, 'Price', '35')
      await press(page, 'Save')
      await sees(page, 'Saved.')
    })
  })

  it('Columns that a new version of the app lacks are those that a list begins with', async () => {
    const page = await lib.entered(PEOPLE.editor)
    await page.evaluate(() =>
      localStorage.setItem('fieldgate-admin.columns.books', '["colour","binding"]'),
    )
    await page.reload()
    await found(page, 'td a.name')
    expect(await column(page, 'Title')).toContain('Atlas 1')
  })

  it('A screen is of who has signed in last in this browser, and no draft of another user stays', async () => {
    const page = await lib.entered(PEOPLE.editor)
    await follow(page, 'Atlas 4')
    await write(page, 'Price', '45')
    await sees(page, 'Unsaved changes')
    const { page: other } = await lib.chromium.open(`${lib.base}#/login`, page.browserContext())
    await signIn(other, PEOPLE.admin)
    await sees(other, ' records')
    await page.bringToFront()
    await sees(page, 'admin of the library')
    const price = async () => (await field(page, 'Price')).evaluate((one) => one.value)
    expect(await price()).not.toBe('45')
    // The same user may sign in once more, as for what needs a recent sign-in.
    await write(page, 'Price', '46')
    await page.evaluate(() => document.body.setAttribute('data-old', ''))
    await other.bringToFront()
    await visit(other, lib.base, '/login')
    await signIn(other, PEOPLE.admin)
    await sees(other, ' records')
    await page.bringToFront()
    await press(page, 'Save')
    await sees(page, 'Saved.')
    expect(await page.$('body[data-old]')).not.toBeNull()
  })
})
