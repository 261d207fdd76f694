import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import axe from 'axe-core'
import type { Page } from 'puppeteer-core'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { bundled } from '../../packages/admin/bundle.ts'
import { PASSWORD, PEOPLE } from '../admin/apps.ts'
import { Library } from '../admin/library.ts'
import {
  choose,
  click,
  field,
  follow,
  found,
  opened,
  press,
  sees,
  signIn,
  visit,
  write,
} from '../admin/screens.ts'
import { withService } from '../services/shared.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

await withService('chromium', () => {
  const lib = new Library()

  describe('The first load of the admin page', () => {
    it('is at most 400 KiB as it is sent, and a list is there after less than 2 s of a processor', async () => {
      const { assets, script } = await bundled()
      const first = new Set<string>()
      const add = (name: string) => {
        if (first.has(name)) return
        first.add(name)
        const text = gunzipSync(Buffer.from(assets[name] ?? '', 'base64')).toString()
        for (const [, next = ''] of text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) add(next)
      }
      for (const name of [
        script,
        ...Object.keys(assets).filter((one) => /^list-|\.css$/.test(one)),
      ])
        add(name)
      const bytes = [...first].map((name) => Buffer.from(assets[name] ?? '', 'base64').length)
      const sum = bytes.reduce((all, one) => all + one, 0)
      console.log(`first load: ${sum} bytes gzipped in ${first.size} files`)
      expect(sum).toBeLessThan(400 * 1024)

      const { page } = await lib.signedIn(PEOPLE.reader)
      const session = await page.createCDPSession()
      await session.send('Performance.enable')
      const used = async () => {
        const { metrics } = await session.send('Performance.getMetrics')
        return metrics.find(({ name }) => name === 'ProcessTime')?.value ?? 0
      }
      const before = await used()
      await page.reload({ waitUntil: 'domcontentloaded' })
      await found(page, 'td a.name')
      const seconds = (await used()) - before
      console.log(`a list is there after ${seconds.toFixed(2)} s of a processor`)
      expect(seconds).toBeGreaterThan(0)
      expect(seconds).toBeLessThan(2)
      await page.browserContext().close()
    })

    it('asks no other origin', async () => {
      const { page } = await opened(lib.chromium, 'about:blank')
      const asked = new Set<string>()
      page.on('request', (request) => asked.add(new URL(request.url()).origin))
      await page.goto(lib.base)
      await field(page, 'Password')
      expect([...asked].filter((origin) => origin !== 'null')).toEqual([new URL(lib.base).origin])
      await page.browserContext().close()
    })
  })

  it('can be used by keys alone', async () => {
    const { page } = await lib.opened()
    await field(page, 'Password')
    const reach = async (wanted: string) => {
      for (let at = 0; at < 60; at += 1) {
        await page.keyboard.press('Tab')
        const names = await page.evaluate(() => {
          const one = document.activeElement as HTMLInputElement | null
          return [one?.textContent, one?.ariaLabel, one?.labels?.[0]?.textContent]
        })
        if (names.some((name) => name?.replace(/ \*$/, '') === wanted)) return
      }
      throw new Error(`Tab does not reach ${wanted}`)
    }
    /** Presses a key, again if the page was not ready for it, until it shows something. */
    const until = async (key: 'ArrowDown', selector: string) => {
      for (let at = 0; at < 8; at += 1) {
        await page.keyboard.press(key)
        const wait = page.waitForSelector(selector, { timeout: 2500 })
        if (await wait.catch(() => null)) return
      }
      throw new Error(`${key} does not show ${selector}`)
    }
    await reach('E-mail or user name')
    await page.keyboard.type(PEOPLE.editor)
    await reach('Password')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await found(page, 'td a.name')
    await reach('Search Books')
    await page.keyboard.type('Clouds')
    await sees(page, '6 records')
    await reach('Clouds 1')
    await page.keyboard.press('Enter')
    await field(page, 'Title')
    await reach('Author')
    await until('ArrowDown', '[role="option"]')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await reach('Price')
    await page.keyboard.type('3')
    await page.keyboard.press('Enter')
    await sees(page, 'Saved.')
    await page.browserContext().close()
  })

  describe('The screens', () => {
    it('have no violation that axe finds, light and dark, wide and narrow', async () => {
      const { page } = await lib.opened()
      const wrong: string[] = []
      const look = async (name: string) => void wrong.push(...(await violations(page, name)))
      await field(page, 'Password')
      await look('sign-in')
      await signIn(page, PEOPLE.admin)
      await sees(page, ' records')
      await look('list')
      await press(page, 'Filters')
      await look('filters')
      await press(page, 'Chart')
      await choose(page, 'Group by', 'Author')
      await choose(page, 'Show', 'Sum pages')
      await found(page, '.chart th a')
      await page.waitForFunction(
        () => Number(document.querySelector('.chart td.right')?.textContent) > 1000,
      )
      await look('chart')
      await click(page, 'td.check input')
      await look('bulk')
      await press(page, 'Columns')
      await look('columns')
      await press(page, 'Close')
      await follow(page, 'Atlas 1')
      await write(page, 'Pages', '0')
      await press(page, 'Save')
      await sees(page, 'Some fields need another value.')
      await look('form')
      await write(page, 'Pages', '101')
      await press(page, 'Save')
      await sees(page, 'Saved.')
      await click(page, '.history summary')
      await found(page, '.changes dl')
      await look('history')
      await write(page, 'Summary', 'word '.repeat(300))
      await press(page, 'Save')
      await page.waitForFunction(() =>
        [...document.querySelectorAll('.changes dl')].some(
          (one) => one.scrollHeight > one.clientHeight,
        ),
      )
      await look('long change')
      await visit(page, lib.base, '/books/create')
      await sees(page, 'New Book')
      await look('create')
      await visit(page, lib.base, '/auth.users')
      await follow(page, 'editor of the library')
      await sees(page, 'End sessions')
      await look('user')
      await visit(page, lib.base, '/account')
      await sees(page, 'API keys')
      await look('account')
      await press(page, 'Set up an authenticator app')
      await found(page, 'svg.qr')
      await look('authenticator app')
      expect(wrong).toEqual([])
      await page.browserContext().close()
    })

    it('say that their code is out of reach, or that there is nothing, beside the menu', async () => {
      const { page } = await lib.signedIn(PEOPLE.reader)
      await page.setOfflineMode(true)
      await visit(page, lib.base, '/account')
      await sees(page, 'This screen could not be loaded.')
      await found(page, 'nav a')
      await page.setOfflineMode(false)
      await press(page, 'Reload the page')
      await sees(page, 'API keys')
      await visit(page, lib.base, '/books/of/yesterday')
      await sees(page, 'There is no such record.')
      await page.browserContext().close()
    })

    it('say that there is no network, and do nothing later', async () => {
      const { page } = await lib.signedIn(PEOPLE.admin)
      const before = await lib.books.count()
      await click(page, 'td.check input')
      await page.setOfflineMode(true)
      await press(page, 'Delete')
      await click(page, 'dialog button.danger')
      await sees(page, 'The server cannot be reached.')
      await visit(page, lib.base, '/authors')
      await sees(page, 'The server cannot be reached.')
      await page.setOfflineMode(false)
      await press(page, 'Refresh')
      await sees(page, '3 records')
      expect(await lib.books.count()).toBe(before)
      await page.browserContext().close()
    })

    it('have a name for every record to follow, and show all of it where they are narrow', async () => {
      const { author } = await lib.book('Atlas 1')
      const long = await lib.books.insert({ title: `Zz${'z'.repeat(80)}`, author, isLent: true })
      const blank = await lib.books.insert({ title: ' ', author, isLent: true })
      const { page } = await lib.signedIn(PEOPLE.admin)
      await found(page, `td a.name ::-p-text(${blank._id})`)
      await page.setViewport({ width: 390, height: 900 })
      await write(page, 'Search Books', long.title)
      await sees(page, '1 record')
      await page.waitForSelector('.scroll[aria-busy="false"]')
      const [end, box, cut] = await page.$eval('td.check + td', (cell) => [
        cell.querySelector('a')?.getBoundingClientRect().right,
        cell.parentElement?.querySelector('input')?.getBoundingClientRect().left,
        cell.scrollWidth - cell.clientWidth,
      ])
      expect(end).toBeLessThan(box ?? 0)
      expect(cut).toBe(0)
      expect(await page.$eval('h1 + p', (one) => one.textContent)).toBe('1 record')
      await page.browserContext().close()
    })
  })
})

/** The screens that the manual shows, as `FIELDGATE_SCREENSHOTS=1` writes them. */
const SHOWN = [
  ...['list light 1440', 'chart dark 1440', 'form light 1440', 'list dark 390'],
  'history light 1440',
]

/** What axe says of a screen, in both themes and widths, and where it is wider than the window. */
async function violations(page: Page, name: string): Promise<string[]> {
  const wrong: string[] = []
  const isThere = await page.evaluate("'axe' in window")
  if (!isThere) await page.evaluate(`{ const [module, exports, define] = []; ${axe.source} }`)
  // What is there depends on the width alone: the other theme of the wide one is looked at for its colours.
  for (const place of ['light 1440', 'dark 390', 'dark 1440']) {
    // Those of WCAG 2.2 have to be asked for.
    const rules = { 'target-size': { enabled: true } }
    const [scheme = '', width = ''] = place.split(' ')
    const only = place === 'dark 1440' ? { runOnly: ['color-contrast'] } : { rules }
    const options = JSON.stringify({ resultTypes: ['violations'], ...only })
    await page.setViewport({ width: Number(width), height: 900 })
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
    // A list is paler while it is read again.
    const found = await page.evaluate(
      `(async () => {
        const isBusy = () => document.querySelector('[aria-busy="true"]') !== null
        for (;;) {
          while (isBusy()) await new Promise(requestAnimationFrame)
          const { violations } = await window.axe.run(document, ${options})
          if (isBusy()) continue
          return violations.map(({ id, nodes }) => id + ' ' + nodes.map(({ target }) => target))
        }
      })()`,
    )
    for (const one of found as string[]) wrong.push(`${name} ${place}: ${one}`)
    const content = await page.evaluate(() => document.documentElement.scrollWidth)
    if (content > Number(width)) wrong.push(`${name} ${place}: is ${content} wide`)
    await keep(page, `${name} ${place}`)
  }
  await page.setViewport({ width: 1440, height: 900 })
  return wrong
}

/** Writes a screen for the manual, where that is wanted. */
async function keep(page: Page, place: string): Promise<void> {
  if (!process.env.FIELDGATE_SCREENSHOTS || !SHOWN.includes(place)) return
  const image = sharp(await page.screenshot()).webp({ quality: 60 })
  const small = place.endsWith('1440') ? image.resize(1000) : image
  await small.toFile(join(root, `docs/admin/${place.replaceAll(' ', '-')}.webp`))
}
