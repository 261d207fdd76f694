import type { Page } from 'puppeteer-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { PASSWORD, PEOPLE } from '../admin/apps.ts'
import { club } from '../admin/club.ts'
import { Library } from '../admin/library.ts'
import { field, follow, found, opened, press, sees, visit, write } from '../admin/screens.ts'
import { withService } from '../services/shared.ts'

const UNREACHABLE = 'The server cannot be reached'

await withService('chromium', () => {
  const lib = new Library()

  /** The screen of someone's own account. */
  async function account(email: string): Promise<Page> {
    const page = await lib.entered(email)
    await visit(page, lib.base, '/account')
    await sees(page, 'this session')
    return page
  }
  describe('Without a network, the screen of an account', () => {
    it('signs nobody out everywhere, and says so', async () => {
      const page = await account(PEOPLE.reader)
      await page.setOfflineMode(true)
      await press(page, 'Sign out everywhere')
      await sees(page, UNREACHABLE)
      await page.setOfflineMode(false)
      await page.reload()
      await sees(page, 'this session')
    })

    it('does not look as if there were nothing', async () => {
      const page = await account(PEOPLE.reader)
      await follow(page, 'Books')
      await page.setOfflineMode(true)
      await follow(page, 'reader of the library')
      const sections = await page.waitForFunction(() => {
        const all = [...document.querySelectorAll('section.card')]
        const said = all.filter((one) => one.querySelector('.notice.error'))
        return said.length === 2 && said.map((one) => one.querySelector('h2')?.textContent)
      }, {})
      expect(await sections.jsonValue()).toEqual(['API keys', 'Sessions'])
    })
  })

  it('A button that is pressed twice makes one key', async () => {
    const page = await account(PEOPLE.editor)
    await write(page, 'Name', 'nightly')
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      if (request.method() !== 'POST') return void request.continue()
      setTimeout(() => void request.continue().catch(() => {}), 500)
    })
    await press(page, 'New API key')
    await press(page, 'New API key')
    await found(page, 'pre')
    await page.waitForNetworkIdle()
    await page.reload()
    await sees(page, 'nightly')
    const keys = await page.$$eval('.rows li', (all) => all.map((one) => one.textContent))
    expect(keys.filter((one) => one.includes('nightly'))).toHaveLength(1)
  })

  it('A role is given once it is chosen, not on the way there by keys', async () => {
    const page = await lib.entered(PEOPLE.admin)
    await follow(page, 'Users')
    await follow(page, 'reader of the library')
    const role = await field(page, 'Role')
    await role.focus()
    let writes = 0
    page.on('request', (request) => {
      if (!['GET', 'QUERY'].includes(request.method())) writes += 1
    })
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp'] as const) await page.keyboard.press(key)
    expect(await role.evaluate((one) => one.value)).toBe('editor')
    expect(writes).toBe(0)
    await press(page, 'Change')
    await sees(page, 'Saved.')
    await page.reload()
    expect(await (await field(page, 'Role')).evaluate((one) => one.value)).toBe('editor')
    expect(writes).toBe(1)
  })

  it('Who changes their password reads what came of it', async () => {
    const email = 'other@example.com'
    const body = JSON.stringify({ email, password: PASSWORD })
    const headers = { 'Content-Type': 'application/json' }
    const asked = { method: 'POST', headers, body }
    await lib.app.handle(new Request('http://library/auth/register', asked))
    const page = await account(email)
    const change = async (current: string) => {
      await write(page, 'Current password', current)
      await write(page, 'New password', 'staple battery horse')
      await press(page, 'Change password')
    }
    await change('not the password')
    const said = await found(page, '.notice.error')
    expect(await said.evaluate((one) => one.textContent)).toBe('Current password is incorrect.')
    await change(PASSWORD)
    await sees(page, 'Sign in again. The password is changed.')
  })

  it('What could not be sent is no error any more once it is', async () => {
    const made = await club('http://localhost:1', 'http://localhost:2')
    const { url, close } = await serve(made.app, {
      port: 0,
      hostname: '127.0.0.1',
      signals: false,
    })
    onTestFinished(close)
    const { page } = await opened(lib.chromium, `${url}/admin`)
    onTestFinished(() => page.browserContext().close())
    await press(page, 'Sign in with a code by mail')
    await write(page, 'E-mail or user name', 'new@example.com')
    await page.setOfflineMode(true)
    await press(page, 'Send a code')
    await sees(page, UNREACHABLE)
    await page.setOfflineMode(false)
    await press(page, 'Send a code')
    await field(page, 'Code')
    expect(await page.$('.notice.error')).toBeNull()
  })
})
