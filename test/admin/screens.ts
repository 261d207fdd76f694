/**
 * What users of the admin page do, for its tests: by what they see.
 *
 * @module
 */

import type { ElementHandle, Page } from 'puppeteer-core'
import type { Chromium, Tab } from '../services/chromium.ts'
import { PASSWORD } from './apps.ts'

/** A window of a user of their own, as wide as a desk has it. */
export async function opened(chromium: Chromium, url: string): Promise<Tab> {
  const tab = await chromium.open(undefined, await chromium.user())
  await tab.page.setViewport({ width: 1440, height: 900 })
  await tab.page.goto(url)
  return tab
}

/** The control of a form with a label, or an `aria-label`, as soon as it can be seen. */
export async function field(page: Page, label: string): Promise<ElementHandle<HTMLSelectElement>> {
  const found = await page.waitForFunction(
    (wanted) =>
      [...document.querySelectorAll('input, select, textarea')].find((one) => {
        const { labels } = one as HTMLInputElement
        const name = one.ariaLabel ?? labels?.[0]?.textContent?.replace(/ \*$/, '')
        return name?.startsWith(wanted) && one.checkVisibility()
      }),
    {},
    label,
  )
  return found as ElementHandle<HTMLSelectElement>
}

/** The first visible element that a selector of puppeteer finds, as soon as there is one. */
export async function found(page: Page, selector: string): Promise<ElementHandle<Element>> {
  const element = await page.waitForSelector(selector, { visible: true })
  if (!element) throw new Error(`there is no ${selector}`)
  return element
}

/** Replaces what is in a field. */
export async function write(page: Page, label: string, text: string): Promise<void> {
  const input = await field(page, label)
  await input.click({ count: 3 })
  if (text === '') await page.keyboard.press('Backspace')
  // All of it at once, as who pastes it.
  else await page.keyboard.sendCharacter(text)
}

/** Chooses in a list of choices by what it shows. */
export async function choose(page: Page, label: string, text: string): Promise<void> {
  const list = await field(page, label)
  const value = await list.evaluate(
    (element, wanted) => [...element.options].find((one) => one.text === wanted)?.value,
    text,
  )
  if (value === undefined) throw new Error(`${label} has no ${text}`)
  await list.select(value)
}

/** Clicks what a selector finds, as soon as it stays where it is: a late answer may draw it anew, or move it. */
export async function click(page: Page, selector: string): Promise<void> {
  await page.locator(selector).click()
}

export async function press(page: Page, name: string): Promise<void> {
  await click(page, `aria/${name}[role="button"]`)
}

export async function follow(page: Page, name: string): Promise<void> {
  await click(page, `aria/${name}[role="link"]`)
}

/** Resolves as soon as the page has a text. */
export async function sees(page: Page, text: string): Promise<void> {
  await page.waitForFunction((wanted) => document.body.textContent?.includes(wanted), {}, text)
}

/** Whether something is there now. */
export async function has(page: Page, selector: string): Promise<boolean> {
  return (await page.$(selector)) !== null
}

/** Signs in with a password. */
export async function signIn(page: Page, email: string): Promise<void> {
  await write(page, 'E-mail or user name', email)
  await write(page, 'Password', PASSWORD)
  await press(page, 'Sign in')
}

/** Goes to a screen by its path. */
export async function visit(page: Page, base: string, path: string): Promise<void> {
  await page.goto(`${base}#${path}`)
}

/** The texts of a list's column, as they are once none is loading. */
export async function column(page: Page, label: string): Promise<string[]> {
  await page.waitForSelector('.scroll[aria-busy="false"]')
  return page.$$eval(`td[data-label="${label}"]`, (cells) => cells.map((one) => one.textContent))
}

/** Signs out by a button, which loads the page anew. */
export async function signOut(page: Page, button: string): Promise<void> {
  await page.evaluate(() => document.body.setAttribute('data-old', ''))
  await press(page, button)
  await page.waitForSelector('body:not([data-old])')
}
