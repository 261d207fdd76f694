import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { Secret, TOTP } from 'otpauth'
import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { signIn } from '../../examples/sign-in/app.ts'
import { authenticatorOf, type Chromium, startChromium, type Tab } from '../services/chromium.ts'
import { freePorts } from '../services/server.ts'
import { withService } from '../services/shared.ts'

const example = join(import.meta.dirname, '../../examples/sign-in')
const email = 'ann@example.com'
const password = 'correct horse battery'
/** `SCREENSHOTS=1 vitest run test/browser/sign-in.test.ts` makes the pictures of the example anew. */
const pictures = process.env.SCREENSHOTS === undefined ? undefined : join(example, 'pictures')

/**
 * In the page: the user confirms what they have asked for, and not what the browser only offers. A device that is told to confirm
 * when a ceremony is under way does not end that one.
 */
function confirmWhatIsPressed(): void {
  const { press, release } = globalThis as unknown as Record<string, () => Promise<void>>
  const { credentials } = navigator
  for (const name of ['create', 'get'] as const) {
    const ask = credentials[name].bind(credentials)
    credentials[name] = async (options?: CredentialRequestOptions & CredentialCreationOptions) => {
      if (options?.mediation === 'conditional') return ask(options)
      await press?.()
      return ask(options).finally(() => release?.())
    }
  }
}

await withService('chromium', () => {
  let chromium: Chromium
  let server: Awaited<ReturnType<typeof serve>>
  let tab: Tab
  let page: Page
  let codes: string[] = []
  const mails: string[] = []

  beforeAll(async () => {
    const { outputFiles } = await build({
      entryPoints: [join(example, 'page.ts')],
      bundle: true,
      format: 'esm',
      write: false,
      conditions: ['fieldgate-source'],
    })
    // The port is a part of the origin, to which passkeys belong.
    const [port = 0] = await freePorts(1)
    const origin = `http://localhost:${port}`
    const app = signIn({
      store: sqliteStore(),
      secret: 'a secret of at least 32 characters, for tests',
      origin,
      send: ({ code }) => mails.push(code),
      page: {
        html: await readFile(join(example, 'page.html'), 'utf8'),
        script: outputFiles[0]?.text ?? '',
      },
    })
    server = await serve(app, { port, hostname: '127.0.0.1', signals: false })
    chromium = await startChromium()
    tab = await chromium.open()
    page = tab.page
    // The user confirms nothing by themselves: autofill waits until a test says so.
    const asked = { automaticPresenceSimulation: false }
    const { device, authenticatorId } = await authenticatorOf(page, asked)
    const confirm = (enabled: boolean) =>
      device.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })
    await page.exposeFunction('press', () => confirm(true))
    await page.exposeFunction('release', () => confirm(false))
    await page.evaluateOnNewDocument(confirmWhatIsPressed)
    await page.goto(origin)
    if (pictures) await mkdir(pictures, { recursive: true })
  })
  afterAll(async () => {
    await chromium?.stop()
    await server?.close()
  })

  const view = (name: string) => page.waitForSelector(`[data-view="${name}"]:not([hidden])`)
  const typed = async (name: string, text: string) => {
    const field = await page.waitForSelector(
      `[data-view]:not([hidden]) input[name="${name}"]:not([disabled])`,
    )
    await field?.click({ count: 3 })
    await field?.type(text)
  }
  const press = async (text: string) => {
    await page.waitForFunction(
      (label) =>
        [...document.querySelectorAll<HTMLButtonElement>('[data-view]:not([hidden]) button')].some(
          (one) => one.textContent === label && !one.disabled && !one.hidden,
        ),
      {},
      text,
    )
    await page.evaluate((label) => {
      const buttons = [
        ...document.querySelectorAll<HTMLButtonElement>('[data-view]:not([hidden]) button'),
      ]
      buttons.find((one) => one.textContent === label)?.click()
    }, text)
  }
  const wrong = async () =>
    (await page.waitForSelector('#wrong:not([hidden])'))?.evaluate((one) => one.textContent)
  const shown = async (name: string) => {
    await view(name)
    if (!pictures) return
    for (const [width, scheme] of [
      [1000, 'light'],
      [390, 'dark'],
    ] as const) {
      await page.setViewport({ width, height: 700, deviceScaleFactor: 1 })
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
      await page.screenshot({
        path: join(pictures, `${name}-${width}.webp`) as never,
        type: 'webp',
        quality: 80,
        fullPage: true,
      })
    }
  }

  describe('examples/sign-in', () => {
    it('signs up, and adds a passkey', async () => {
      await shown('sign-in')
      await press('Create an account')
      await typed('email', email)
      await typed('password', password)
      await press('Create account')
      await view('account')
      await press('Add a passkey')
      await page.waitForSelector('#passkeys li')
      await shown('account')
    })

    it('signs in by the passkey, with a button', async () => {
      await press('Sign out')
      await view('sign-in')
      await press('Use a passkey')
      await view('account')
    })

    it('sets up an authenticator app, and shows the recovery codes once', async () => {
      await press('Set it up')
      await view('enrol')
      const secret = await page.$eval('[data-is="secret"]', (one) => one.textContent ?? '')
      const totp = new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) })
      await view('enrol')
      await typed('code', '000000')
      await press('Turn it on')
      expect(await wrong()).toBe('That code is invalid or has expired.')
      await typed('code', totp.generate())
      await press('Turn it on')
      await view('codes')
      codes = await page.$$eval('#codes code', (all) => all.map((one) => one.textContent ?? ''))
      expect(codes).toHaveLength(10)
      await press('I have kept them')
      await view('account')
    })

    it('asks for the second step after the password, and takes a recovery code for it', async () => {
      await press('Sign out')
      await view('sign-in')
      await typed('identifier', email)
      await typed('password', password)
      await press('Sign in')
      await shown('second-step')
      await typed('totp', '000000')
      await press('Continue')
      expect(await wrong()).toBe('Invalid credentials.')
      await press('Use a recovery code')
      await shown('recovery')
      await typed('recoveryCode', codes[0] ?? '')
      await press('Continue')
      await view('account')
    })

    it('signs in by a mailed code, whose first proof ends what was set up before', async () => {
      await press('Sign out')
      await view('sign-in')
      await typed('identifier', email)
      await press('Mail me a code')
      await view('mail-code')
      await expect.poll(() => mails.length).toBeGreaterThan(0)
      await typed('otp', mails.at(-1) ?? '')
      await press('Sign in')
      await view('account')
      expect(await page.$$('#passkeys li')).toHaveLength(0)
      expect(tab.problems.filter((text) => !/40[013]/.test(text))).toEqual([])
    })
  })
})
