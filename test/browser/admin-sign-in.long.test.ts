import { Secret, TOTP } from 'otpauth'
import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { PASSWORD } from '../admin/apps.ts'
import { type Club, club } from '../admin/club.ts'
import {
  click,
  field,
  follow,
  found,
  has,
  opened,
  press,
  sees,
  signIn,
  signOut,
  write,
} from '../admin/screens.ts'
import { type Issuer, startIssuer } from '../auth/methods/issuer.ts'
import { authenticatorOf, type Chromium, startChromium } from '../services/chromium.ts'
import { freePorts } from '../services/server.ts'
import { withService } from '../services/shared.ts'

const MINUTES = 60_000

await withService('chromium', () => {
  let chromium: Chromium
  beforeAll(async () => {
    chromium = await startChromium()
  })
  afterAll(() => chromium?.stop())

  /** A club of its own, and its sign-in screen. */
  async function entered(): Promise<Club & { page: Page; issuer: Issuer; problems: string[] }> {
    const issuer = await startIssuer()
    // Passkeys name the origin, so it is chosen before the server is there.
    const [port = 0] = await freePorts(1)
    const origin = `http://localhost:${port}`
    const made = await club(origin, issuer.url)
    const { close } = await serve(made.app, { port, hostname: '127.0.0.1', signals: false })
    onTestFinished(close)
    const { page, problems } = await opened(chromium, `${origin}/admin`)
    onTestFinished(() => page.browserContext().close())
    return { ...made, page, issuer, problems }
  }
  const isInside = (page: Page) => sees(page, 'Nothing here yet.')
  /** Registers someone with a password. */
  async function joined({ app }: Club, email: string): Promise<void> {
    const response = await app.handle(
      new Request('http://localhost/auth/register', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ email, password: PASSWORD }),
      }),
    )
    expect(response.status).toBe(201)
  }

  describe('People sign in to the admin page', () => {
    it('at an OpenID provider', async () => {
      const { page, issuer, problems } = await entered()
      issuer.say = { claims: { email: 'ann@example.com', email_verified: true } }
      await press(page, 'Sign in with Company')
      await isInside(page)
      await sees(page, 'ann@example.com')
      expect(new URL(page.url()).hash).toBe('#/notes')
      expect(problems).toEqual([])
    })

    it('at an OpenID provider, or read why not', async () => {
      const { page } = await entered()
      await press(page, 'Sign in with Company')
      await sees(page, 'You were not signed in: access_denied')
      expect(await has(page, 'input[type="password"]')).toBe(true)
    })

    it('at providers that give an ID token, an access token or a code', async () => {
      const { page, problems } = await entered()
      for (const name of ['Google', 'Demo', 'Own']) {
        await press(page, `Sign in with ${name}`)
        await isInside(page)
        await sees(page, `${name.toLowerCase()}@example.com`)
        expect(page.url()).toMatch(/\/admin#\/notes$/)
        await signOut(page, 'Sign out')
      }
      expect(problems).toEqual([])
    })

    it('at a provider, and come to the address that they have opened', async () => {
      const { page } = await entered()
      await page.goto(`${page.url().split('#')[0]}#/account`)
      await press(page, 'Sign in with Demo')
      await sees(page, 'Sessions')
      expect(page.url()).toMatch(/\/admin#\/account$/)
    })

    it('at a provider with a second step, and come there too', async () => {
      const { page, later } = await entered()
      await page.goto(`${page.url().split('#')[0]}#/account`)
      await press(page, 'Sign in with Demo')
      await press(page, 'Set up an authenticator app')
      const secret = await (await found(page, 'pre')).evaluate((one) => one.textContent)
      const app = new TOTP({ secret: Secret.fromBase32(secret.trim()) })
      await write(page, 'Code of your authenticator app', app.generate())
      await press(page, 'Confirm')
      await sees(page, 'Keep these codes in a safe place.')
      later(MINUTES)
      await signOut(page, 'Sign out')
      await page.goto(`${page.url().split('#')[0]}#/account?from=a-link`)
      await press(page, 'Sign in with Demo')
      const code = app.generate({ timestamp: Date.now() + MINUTES })
      await write(page, 'Code of your authenticator app', code)
      await press(page, 'Confirm')
      await sees(page, 'Sessions')
      expect(page.url()).toMatch(/\/admin#\/account\?from=a-link$/)
    })

    it('at no provider by a link that somebody else has made', async () => {
      const { page } = await entered()
      await page.goto(`${page.url().split('#')[0]}#access_token=good&state=theirs`)
      await page.reload()
      await found(page, 'input[type="password"]')
      expect(await has(page, '.who')).toBe(false)
    })

    it('by a code that is mailed', async () => {
      const { page, mailed } = await entered()
      await write(page, 'E-mail or user name', 'cleo@example.com')
      await press(page, 'Sign in with a code by mail')
      await press(page, 'Send a code')
      await expect.poll(mailed).not.toBe('')
      // It has the focus.
      await field(page, 'Code')
      await page.keyboard.type(`${mailed()}\n`)
      await isInside(page)
    })

    it('by a passkey that they have made, and confirm by it what needs a recent sign-in', async () => {
      const made = await entered()
      const { page, later } = made
      await joined(made, 'pat@example.com')
      const { device, authenticatorId } = await authenticatorOf(page)
      // The user touches the device when a test says so, or every offer would be taken.
      const touch = (enabled: boolean) =>
        device.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })
      await signIn(page, 'pat@example.com')
      await follow(page, 'pat@example.com')
      await write(page, 'Name', 'Laptop')
      await press(page, 'Add a passkey')
      await sees(page, 'Laptop')
      await touch(false)
      await signOut(page, 'Sign out')
      await press(page, 'Sign in with a passkey')
      await touch(true)
      await isInside(page)
      await follow(page, 'pat@example.com')
      later(11 * MINUTES)
      await press(page, 'Set up an authenticator app')
      await sees(page, 'Confirm that it is you')
      const ways = await page.$$eval('dialog button', (all) => all.map((one) => one.textContent))
      expect(ways).toEqual(['Confirm', 'Confirm with a passkey', 'Sign in again another way'])
      await press(page, 'Confirm with a passkey')
      await found(page, 'svg.qr')
      // The browser offers it where the name is typed.
      await signOut(page, 'Sign out')
      await isInside(page)
      await touch(false)
      await signOut(page, 'Sign out')
      await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
      await press(page, 'Sign in with a passkey')
      await touch(true)
      await sees(page, 'No passkey was used.')
    })

    it('without buttons for what their browser or their account has not', async () => {
      const made = await entered()
      const { page } = made
      await joined(made, 'una@example.com')
      const buttons = () => page.$$eval('button', (all) => all.map((one) => one.textContent).join())
      await field(page, 'Password')
      expect(await buttons()).toContain('passkey')
      await page.evaluateOnNewDocument(() =>
        Reflect.deleteProperty(globalThis, 'PublicKeyCredential'),
      )
      await page.reload()
      await signIn(page, 'una@example.com')
      await follow(page, 'una@example.com')
      await press(page, 'New recovery codes')
      await sees(page, 'This account has no authenticator app.')
      expect(await buttons()).not.toContain('passkey')
      const whose = await page.$eval(
        '[autocomplete=username]',
        (one) => (one as HTMLInputElement).value,
      )
      expect(whose).toBe('una@example.com')
      await signOut(page, 'Sign out')
      await field(page, 'Password')
      expect(await buttons()).not.toContain('passkey')
    })

    it('again where they were, and read why, after their session was ended elsewhere', async () => {
      const made = await entered()
      const { page, app } = made
      await joined(made, 'eve@example.com')
      await signIn(page, 'eve@example.com')
      await isInside(page)
      await page.goto(`${page.url().split('#')[0]}#/account`)
      await sees(page, 'Sessions')
      const body = { identifier: 'eve@example.com', password: PASSWORD }
      const headers = { 'Content-Type': 'application/json' }
      const ask = (path: string, init: object) =>
        app.handle(new Request(`http://localhost/auth${path}`, { method: 'POST', ...init }))
      const login = await ask('/login', { headers, body: JSON.stringify(body) })
      const { data } = (await login.json()) as { data: { token: string } }
      await ask('/logout/all', { headers: { Authorization: `Bearer ${data.token}` } })
      await page.reload()
      await sees(page, 'Your session has ended. Sign in again.')
      await signIn(page, 'eve@example.com')
      await sees(page, 'Sessions')
      expect(page.url()).toMatch(/#\/account$/)
      await made.disable('eve@example.com', true)
      await page.reload()
      await sees(page, 'Your session has ended. Sign in again. This account is not active.')
      await made.disable('eve@example.com', false)
      await signIn(page, 'eve@example.com')
      await sees(page, 'Sessions')
      // Whoever signs out has nowhere to come back to.
      await signOut(page, 'Sign out')
      await found(page, 'input[type="password"]')
      expect(await page.$eval('main', (one) => one.textContent)).not.toContain('ended')
      await signIn(page, 'eve@example.com')
      await isInside(page)
      expect(page.url()).toMatch(/#\/notes$/)
    })

    it('with a second factor, and confirm with it what needs a recent sign-in', async () => {
      const made = await entered()
      const { page, later } = made
      await joined(made, 'tom@example.com')
      await signIn(page, 'tom@example.com')
      await follow(page, 'tom@example.com')
      later(11 * MINUTES)
      await press(page, 'Set up an authenticator app')
      await sees(page, 'Confirm that it is you')
      await write(page, 'Password', PASSWORD)
      await click(page, 'dialog button.primary')
      await found(page, 'svg.qr')
      const secret = await (await found(page, 'pre')).evaluate((one) => one.textContent)
      const app = new TOTP({ secret: Secret.fromBase32(secret.trim()) })
      let minutes = 11
      const code = () => app.generate({ timestamp: Date.now() + minutes * MINUTES })
      await write(page, 'Code of your authenticator app', code())
      await press(page, 'Confirm')
      await sees(page, 'Keep these codes in a safe place.')

      later(11 * MINUTES)
      minutes += 11
      await press(page, 'New recovery codes')
      await write(page, 'Password', PASSWORD)
      await click(page, 'dialog button.primary')
      await field(page, 'Code of your authenticator app')
      await page.keyboard.type(`${code()}\n`)
      await page.waitForFunction(() => document.querySelector('dialog') === null)
      await found(page, 'pre')

      later(MINUTES)
      minutes += 1
      await signOut(page, 'Sign out')
      await signIn(page, 'tom@example.com')
      await field(page, 'Code of your authenticator app')
      await press(page, 'Back')
      await write(page, 'Password', PASSWORD)
      await press(page, 'Sign in')
      // It has the focus, and takes a code as apps show it.
      await field(page, 'Code of your authenticator app')
      await page.keyboard.type(`${code().replace(/^.../, '$& ')}\n`)
      await isInside(page)
    })
  })
})
