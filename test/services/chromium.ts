/**
 * Chromium for tests in a real browser: `CHROMIUM_PATH`, or Debian's packages `chromium-headless-shell` or `chromium` from the
 * PATH. The first is the same engine without windows, and a tab of it costs the processor a third.
 *
 * A file asks with `await withService('chromium', …)` whether there is one, and starts it in `beforeAll`:
 *
 * ```ts
 * const chromium = await startChromium()
 * const { page, problems } = await chromium.open(url)
 * await chromium.stop()
 * ```
 *
 * @module
 */

import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  launch,
  type Page,
} from 'puppeteer-core'
import { onPath } from './binary.ts'

/** A running Chromium. */
export interface Chromium {
  /** The browser, for what this interface lacks. */
  readonly browser: Browser
  /**
   * Opens a tab, at `url` if there is one. Tabs of one `context` share storage, locks and channels, as those of a user
   * do; without one it is the browser's own.
   */
  open(url?: string, context?: BrowserContext): Promise<Tab>
  /** A user of their own: shares no storage with others. Close it when it is no longer needed. */
  user(): Promise<BrowserContext>
  /** Ends the browser and removes its profile. */
  stop(): Promise<void>
}

/** An open tab. */
export interface Tab {
  readonly page: Page
  /** What went wrong on the page so far: errors that nobody caught, errors in the console, requests that failed. */
  readonly problems: string[]
}

/** How long a page, and anything that a test waits for on it, may take: test machines are slow. */
const PATIENCE_MS = 200_000

/**
 * Starts Chromium; `isWhole`: with the parts around the engine, where it is installed. Rejects if there is none. It ends with
 * this process, whatever ends that. With `FIELDGATE_BROWSER=firefox` it is Firefox: for looking, as it lacks some of what tests use.
 */
export async function startChromium({ isWhole = false } = {}): Promise<Chromium> {
  if (process.env.FIELDGATE_BROWSER === 'firefox') return startFirefox()
  const browser = await launch({
    executablePath: await chromiumProgram(isWhole),
    // Through a pipe there is no port for others to connect to, and Chromium ends when the pipe closes.
    pipe: true,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    protocolTimeout: PATIENCE_MS,
  })
  return driven(browser)
}

/** Starts Firefox. It has none of Chromium's own protocol: no `createCDPSession`, and no media that are emulated. */
export async function startFirefox(): Promise<Chromium> {
  const browser = await launch({
    browser: 'firefox',
    executablePath: await firefoxProgram(),
    protocolTimeout: PATIENCE_MS,
  })
  return driven(browser, (page) => {
    // The protocol takes one character.
    page.keyboard.sendCharacter = (text) =>
      page.evaluate((all) => void document.execCommand('insertText', false, all), text)
  })
}

function driven(browser: Browser, prepare?: (page: Page) => void): Chromium {
  return {
    browser,
    async open(url, context = browser.defaultBrowserContext()) {
      const page = await context.newPage()
      page.setDefaultTimeout(PATIENCE_MS)
      prepare?.(page)
      const problems = problemsOf(page)
      if (url !== undefined) await page.goto(url)
      return { page, problems }
    },
    user: () => browser.createBrowserContext(),
    stop: () => browser.close(),
  }
}

const WHOLE = ['chromium', 'chromium-browser']
const SHELL = ['chromium-headless-shell']

/** The program's path. Rejects if it is not installed. */
export async function chromiumProgram(isWhole = false): Promise<string> {
  const names = isWhole ? [...WHOLE, ...SHELL] : [...SHELL, ...WHOLE]
  const program = process.env.CHROMIUM_PATH ?? (await onPath(names))
  if (program === undefined) throw new Error('chromium is not installed')
  return program
}

/** The program's path: `FIREFOX_PATH`, or Debian's package `firefox-esr` from the PATH. Rejects if it is not installed. */
export async function firefoxProgram(): Promise<string> {
  const program = process.env.FIREFOX_PATH ?? (await onPath(['firefox-esr', 'firefox']))
  if (program === undefined) throw new Error('firefox is not installed')
  return program
}

/** A device with passkeys, as a page sees one. */
export interface Authenticator {
  readonly device: CDPSession
  /** What commands to the device name it by. */
  readonly authenticatorId: string
}

/** Gives a page a device whose user is verified; with `automaticPresenceSimulation`, the user confirms by themselves. */
export async function authenticatorOf(
  page: Page,
  { automaticPresenceSimulation = true } = {},
): Promise<Authenticator> {
  const device = await page.createCDPSession()
  await device.send('WebAuthn.enable')
  const { authenticatorId } = await device.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation,
    },
  })
  return { device, authenticatorId }
}

/** The problems of a page, from now on. */
function problemsOf(page: Page): string[] {
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('requestfailed', (request) => {
    const { errorText } = request.failure() ?? {}
    // The page itself has ended it, as who goes on does with what is still loaded.
    if (/ERR_ABORTED|NS_BINDING_ABORTED/.test(errorText ?? '')) return
    problems.push(`${request.method()} ${request.url()}: ${errorText}`)
  })
  return problems
}
