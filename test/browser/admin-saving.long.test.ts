import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ElementHandle, Page } from 'puppeteer-core'
import { describe, expect, inject, it } from 'vitest'
import { Served } from '../admin/library.ts'
import { field, follow, found, press, sees, write } from '../admin/screens.ts'
import { heldBack, Person, Thing, visitorOf, workshop, written } from '../admin/workshop.ts'
import { withService } from '../services/shared.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

await withService('chromium', () => {
  const served = new Served(workshop)
  const things = () => served.app.store.collection(Thing)
  const { shown, inForm } = visitorOf(served)
  const saved = async (page: Page) => {
    // What was saved before may still be told.
    const answered = page.waitForResponse((one) => one.request().method() === 'PATCH')
    await press(page, 'Save')
    await answered
    await sees(page, 'Saved.')
    await page.waitForFunction(() => !document.body.textContent?.includes('Unsaved changes'))
  }

  describe('What is typed while a form is saved', () => {
    it('stays there, and is saved next', async () => {
      const { page, stored } = await inForm()
      await write(page, 'Story', 'first')
      const { first, release } = await heldBack(page, (one) => one.method() === 'PATCH')
      await press(page, 'Save')
      await first
      await write(page, 'Nick', 'second')
      await release()
      await sees(page, 'Saved.')
      expect(await written(page, 'Story')).toBe('first')
      expect(await written(page, 'Nick')).toBe('second')
      expect(await stored()).toMatchObject({ story: 'first', nick: null })
      await saved(page)
      expect(await stored()).toMatchObject({ story: 'first', nick: 'second' })
    })

    it('is in the form of the record, if that is new', async () => {
      const page = await shown('/people/create')
      await write(page, 'Name', 'New')
      const { first, release } = await heldBack(page, (one) => one.method() === 'POST')
      await press(page, 'Create')
      await first
      await write(page, 'Note', 'late')
      await release()
      await sees(page, 'Created.')
      expect(await written(page, 'Note')).toBe('late')
      await saved(page)
      const stored = await served.app.store.collection(Person).findOne({ name: 'New' })
      expect(stored?.note).toBe('late')
    })
  })

  it('Who has gone elsewhere while a form is saved stays there', async () => {
    const { page, stored } = await inForm()
    await write(page, 'Story', 'slow')
    const { first, release } = await heldBack(page, (one) => one.method() === 'PATCH')
    await press(page, 'Save')
    await first
    await page.goto(`${served.base}#/people/create`)
    await write(page, 'Name', 'typed')
    const answered = page.waitForResponse((one) => one.request().method() === 'PATCH')
    await release()
    await (await answered).text()
    await expect.poll(async () => (await stored())?.story).toBe('slow')
    expect(await written(page, 'Name')).toBe('typed')
    expect(page.url()).toContain('/people/create')
  })

  it('What was saved is shown before it is read again', async () => {
    const { id, page } = await inForm({ story: 'before' })
    await write(page, 'Story', 'after')
    const isRead = (url: string, method: string) => method === 'GET' && url.includes(id)
    const { release } = await heldBack(page, (one) => isRead(one.url(), one.method()))
    await saved(page)
    expect(await written(page, 'Story')).toBe('after')
    await release()
  })

  it('What was typed for a new record is created after a reload', async () => {
    const page = await shown('/people/create')
    await write(page, 'Name', 'Drafted')
    await page.reload()
    await sees(page, 'Your unsaved changes are back.')
    await press(page, 'Create')
    await sees(page, 'Created.')
  })

  describe('That it is saved', () => {
    it('is not said beside what is wrong later', async () => {
      const { page } = await inForm()
      await write(page, 'Story', 'one')
      await saved(page)
      await write(page, 'Title', '')
      await press(page, 'Save')
      await sees(page, 'Some fields need another value.')
      expect(await page.$eval('main', (one) => one.textContent)).not.toContain('Saved.')
    })

    it.each([
      ['a reload', (page: Page) => page.reload()],
      [
        'a step back',
        async (page: Page) => {
          await follow(page, 'Things')
          await found(page, 'td a.name')
          await page.goBack()
        },
      ],
    ])('is not said again after %s', async (_, goes) => {
      const { page } = await inForm()
      await write(page, 'Story', 'one')
      await saved(page)
      await goes(page)
      await field(page, 'Nick')
      expect(await page.$eval('main', (one) => one.textContent)).not.toContain('Saved.')
    })
  })

  describe('Files', () => {
    const image = (bytes = Buffer.from(PIXEL, 'base64')) => {
      const file = join(inject('folder'), `${randomUUID()}.png`)
      writeFileSync(file, bytes)
      return file
    }
    const choose = async (page: Page, label: string, ...files: string[]) => {
      const input = (await field(page, label)) as ElementHandle as ElementHandle<HTMLInputElement>
      await input.uploadFile(...files)
    }
    const images = (page: Page) =>
      page.$$eval('.files img', (all) => all.filter((one) => one.alt !== '').length)

    it('are added to those that are there, and taken away one by one', async () => {
      const { page, stored } = await inForm()
      await choose(page, 'Papers', image(), image())
      await saved(page)
      await expect.poll(() => images(page)).toBe(2)
      const [first, second] = (await stored())?.papers ?? []
      await choose(page, 'Papers', image())
      await saved(page)
      expect((await stored())?.papers).toEqual([first, second, expect.anything()])
      await (await found(page, '.files .chips button')).click()
      await saved(page)
      expect((await stored())?.papers).toEqual([second, expect.anything()])
    })

    it('are sent together with what is emptied, or nothing is', async () => {
      const { page, stored } = await inForm({ rating: 3, extra: 1 })
      await write(page, 'Rating', '')
      await write(page, 'Extra', '"5"')
      await choose(page, 'Photo', image(Buffer.from('no image')))
      await press(page, 'Save')
      await sees(page, 'Unsupported')
      expect((await stored())?.rating).toBe(3)
      await choose(page, 'Photo', image())
      await saved(page)
      const { rating = null, extra, photo } = (await stored()) ?? {}
      expect([rating, extra]).toEqual([null, '5'])
      expect(photo).toContain('.png')
    })

    it('are all named where two changes meet, but for those that nobody has changed', async () => {
      const { id, page, stored } = await inForm()
      await choose(page, 'Papers', image())
      await choose(page, 'Photo', image())
      await saved(page)
      const { papers = [], photo } = (await stored()) ?? {}
      await choose(page, 'Papers', image())
      // As a link that is signed anew.
      await things().update(id, { story: 'theirs', photo: `${photo}?signature=other` })
      await press(page, 'Save')
      await sees(page, 'Someone else has changed this record')
      const texts = (selector: string) =>
        page.$$eval(selector, (all) => all.map((one) => one.textContent))
      expect(await texts('.conflict legend')).toEqual(['Story', 'Papers'])
      const name = papers[0]?.url.split('/').at(-1)
      expect((await texts('.conflict label')).at(-1)).toMatch(new RegExp(`^Mine${name}, .+\\.png$`))
    })

    it('are sent before another one is taken away', async () => {
      const { page, stored } = await inForm()
      await choose(page, 'Photo', image())
      await saved(page)
      await choose(page, 'Papers', image())
      await press(page, 'Remove')
      await saved(page)
      const { photo = null, papers } = (await stored()) ?? {}
      expect(photo).toBeNull()
      expect(papers).toHaveLength(1)
    })
  })
})
