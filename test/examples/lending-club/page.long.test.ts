import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import type { Page } from 'puppeteer-core'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RUNTIMES } from '../../runtimes/commands.ts'
import { type Chromium, startChromium } from '../../services/chromium.ts'
import { withService } from '../../services/shared.ts'
import { startedServer } from '../run.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const example = join(root, 'examples/lending-club')
/** Where what the page looks like is left for people. */
const shots = join(root, '.cache/lending-club')

/** The server as the manual starts it, and its page as the manual builds it. */
async function served() {
  await build({
    entryPoints: [join(example, 'web.ts')],
    bundle: true,
    format: 'esm',
    outfile: join(example, 'public/web.js'),
    conditions: ['fieldgate-source'],
  })
  const server = await startedServer('lending-club/server', 'node', { SECRET: 'x'.repeat(32) })
  /** The latest code that was sent to this address. */
  const code = async (to: string) => {
    const pattern = new RegExp(`To ${to}: .*\\n[^]*?(\\d{6})`, 'g')
    const codes = () => [...server.output().matchAll(pattern)].map(([, found]) => found)
    await expect.poll(codes).not.toEqual([])
    return String(codes().at(-1))
  }
  const promote = (email: string) => {
    const [command = '', ...args] = RUNTIMES.node ?? []
    const cli = join(root, 'adapters/cli/fieldgate.ts')
    const user = ['user', join(example, 'app.ts'), '--find', email, '--role', 'librarian']
    return promisify(execFile)(command, [...args, cli, ...user], { cwd: server.folder })
  }
  return { ...server, code, promote }
}

await withService('chromium', () => {
  let chromium: Chromium
  beforeAll(async () => {
    chromium = await startChromium()
    mkdirSync(shots, { recursive: true })
  })
  afterAll(() => chromium?.stop())

  it('a librarian adds tools on the page, and a member borrows them', {
    timeout: 180_000,
  }, async () => {
    const { url, folder, code, promote } = await served()
    const open = async (email: string) => {
      const { page, problems } = await chromium.open(url, await chromium.user())
      await page.type('#sign-in [name=identifier]', email)
      await page.click('#sign-in button')
      await page.waitForFunction(() => document.querySelector('#note')?.textContent !== '')
      await page.type('#sign-in [name=otp]', await code(email))
      await page.click('#sign-in button')
      await page.waitForSelector('body.member')
      return { page, problems }
    }
    const says = (page: Page, selector: string, text: string) =>
      page.waitForFunction(
        (where: string, what: string) =>
          [...document.querySelectorAll(where)].some((one) => one.textContent?.includes(what)),
        {},
        selector,
        text,
      )
    const press = (page: Page, label: string) =>
      page.evaluate((text) => {
        const buttons = [...document.querySelectorAll('button')]
        buttons.find((one) => one.textContent === text && one.checkVisibility())?.click()
      }, label)

    const lib = await open('lib@example.com')
    await promote('lib@example.com')
    await lib.page.reload()
    await lib.page.waitForSelector('body.librarian')
    const photo = join(folder, 'ladder.png')
    const background = { r: 180, g: 120, b: 60, alpha: 1 }
    writeFileSync(
      photo,
      await sharp({ create: { width: 90, height: 90, channels: 4, background } })
        .png()
        .toBuffer(),
    )
    await lib.page.type('#add [name=name]', 'Ladder')
    await lib.page.select('#add select', 'ladder')
    const input = await lib.page.$('#add [type=file]')
    await (input as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(photo)
    await lib.page.click('#add button')
    await lib.page.waitForSelector('#tools img')
    await lib.page.$eval('#add', (form) => (form as HTMLFormElement).reset())
    await lib.page.type('#add [name=name]', 'Circular saw')
    await lib.page.click('#add button')
    await says(lib.page, '#tools', 'Circular saw')

    const ann = await open('ann@example.com')
    await ann.page.type('#search input', 'saw')
    await ann.page.waitForFunction(() => document.querySelectorAll('#tools li').length === 1)
    // In one evaluation: an answer to the search that comes late draws the list again.
    const book = () =>
      ann.page.evaluate(() => {
        const form = document.querySelector<HTMLFormElement>('#tools li form')
        const { from, to } = form as unknown as Record<'from' | 'to', HTMLInputElement>
        from.value = '2030-01-02'
        to.value = '2030-01-05'
        form?.requestSubmit()
      })
    await book()
    await says(ann.page, '#note', 'Circular saw is booked.')
    await says(ann.page, '#me', '2 tickets')
    await says(ann.page, '#loans', 'Circular saw, 2030-01-02 to 2030-01-05, booked')
    await book()
    await says(ann.page, '#note', 'Overlaps an existing entry.')

    await lib.page.reload()
    await says(lib.page, '#loans', 'booked, ann@example.com')
    await press(lib.page, 'Lend out')
    await says(lib.page, '#loans', 'lent')
    await says(lib.page, '#statistics', 'Circular saw: 1')
    for (const [width, scheme] of [
      [1000, 'light'],
      [390, 'dark'],
    ] as const) {
      await lib.page.setViewport({ width, height: 800 })
      await lib.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
      const isWide = await lib.page.evaluate(
        () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
      )
      expect(isWide).toBe(false)
      await lib.page.screenshot({ path: join(shots, `${width}-${scheme}.png`), fullPage: true })
    }
    await press(lib.page, 'Take back')
    await says(lib.page, '#loans', 'returned')
    await ann.page.reload()
    await says(ann.page, '#me', '3 tickets')
    await press(ann.page, 'Sign out')
    await ann.page.waitForSelector('body.guest')
    const unexpected = [...lib.problems, ...ann.problems].filter((one) => !/40[19]/.test(one))
    expect(unexpected).toEqual([])
  })
})
