import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { Served } from '../admin/library.ts'
import {
  choose,
  click,
  column,
  field,
  follow,
  found,
  press,
  sees,
  write,
} from '../admin/screens.ts'
import { PEOPLE, Person, Thing, visitorOf, workshop, written } from '../admin/workshop.ts'
import { withService } from '../services/shared.ts'

await withService('chromium', () => {
  const served = new Served(workshop)
  const people = () => served.app.store.collection(Person)
  const things = () => served.app.store.collection(Thing)
  const { shown, inForm } = visitorOf(served)
  const save = async (page: Page) => {
    await press(page, 'Save')
    await sees(page, 'Saved.')
  }
  const texts = (page: Page, selector: string) =>
    page.$$eval(selector, (all) => all.map((one) => one.textContent))

  describe('Where a router has small pages', () => {
    it('a list has all records on its own pages', async () => {
      const page = await shown('/people')
      const seen: string[] = []
      for (let left = 6; left > 0; left -= 1) {
        await sees(page, `Page ${7 - left} of 6`)
        await expect.poll(async () => (await column(page, 'Name'))[0]).not.toBe(seen.at(-25))
        seen.push(...(await column(page, 'Name')))
        if (left > 1) await press(page, 'Next page')
      }
      expect(new Set(seen).size).toBe(PEOPLE)
    })

    it('all records are selected', async () => {
      const page = await shown('/people')
      await (await field(page, 'Select all on this page')).click()
      await press(page, `Select all ${PEOPLE}`)
      await sees(page, `${PEOPLE} selected`)
    })

    it('each record can be referred to, also without a search', async () => {
      const { page, stored } = await inForm()
      for (const name of ['Person 003', 'Person 127']) {
        await write(page, 'Owner', name)
        await found(page, `[role="option"]::-p-text(${name})`)
        await page.keyboard.press('Enter')
        await save(page)
        const owner = await people().findOne({ name })
        expect((await stored())?.owner).toBe(owner?._id)
      }
    })
  })

  describe('What is typed for a reference, and left without a choice,', () => {
    const typed = async (text: string) => {
      const { page, stored } = await inForm()
      await write(page, 'Owner', text)
      return { page, stored }
    }

    it('is the record that it names', async () => {
      const { page, stored } = await typed('person 042')
      await found(page, '[role="option"]::-p-text(Person 042)')
      await page.keyboard.press('Tab')
      await save(page)
      const owner = await people().findOne({ name: 'Person 042' })
      expect((await stored())?.owner).toBe(owner?._id)
    })

    it('is not saved as if nothing had been typed', async () => {
      const { page, stored } = await typed('Person 0')
      await press(page, 'Save')
      await sees(page, 'This cannot be read. Complete it or clear it.')
      expect(await written(page, 'Owner')).toBe('Person 0')
      await (await field(page, 'Owner')).click()
      await page.keyboard.press('Escape')
      expect(await written(page, 'Owner')).toBe('')
      await write(page, 'Story', 'none')
      await save(page)
      expect(await stored()).toMatchObject({ story: 'none' })
      expect((await stored())?.owner ?? null).toBeNull()
    })
  })

  describe('Of the records that are selected,', () => {
    const selected = async (...names: string[]) => {
      const page = await shown('/people')
      for (const name of names) await (await field(page, `Select ${name}`)).click()
      return page
    }

    it('those that others have deleted do not stay so', async () => {
      const page = await selected('Person 001', 'Person 002')
      const gone = await people().findOne({ name: 'Person 001' })
      await people().delete(gone?._id ?? '')
      await press(page, 'Delete')
      await click(page, 'dialog button.danger')
      await sees(page, 'There is no such record.')
      await sees(page, '1 selected')
      await press(page, 'Delete')
      await click(page, 'dialog button.danger')
      await sees(page, '1 record changed.')
      expect(await people().findOne({ name: 'Person 002' })).toBeNull()
    })

    it('an own field `id` is shown as it was changed', async () => {
      const page = await selected('Person 007', 'Person 008')
      await press(page, 'Change a field')
      await write(page, 'Id', 'both')
      await press(page, 'Change')
      await sees(page, '2 records changed.')
      await expect
        .poll(async () => (await column(page, 'Id')).filter((one) => one === 'both'))
        .toHaveLength(2)
    })
  })

  it('An own field `id` is shown and changed as it is', async () => {
    const one = await people().findOne({ name: 'Person 005' })
    const page = await shown(`/people/record/${one?._id}`)
    expect(await written(page, 'Id')).toBe('own-5')
    expect(await texts(page, '.beside dt')).toContain('_id')
    await write(page, 'Id', 'other')
    await save(page)
    expect(await written(page, 'Id')).toBe('other')
    expect((await people().findById(one?._id ?? ''))?.id).toBe('other')
    await follow(page, 'People')
    expect(await column(page, 'Id')).toContain('own-0')
  })

  describe('A form', () => {
    it('offers nothing instead of what is there by a default', async () => {
      const { page, stored } = await inForm()
      const colours = await (await field(page, 'Colour')).$$eval('option', (all) =>
        all.map((one) => one.text),
      )
      expect(colours).toEqual(['red', 'green'])
      await (await field(page, 'Is open')).click()
      await save(page)
      expect((await stored())?.isOpen).toBe(false)
    })

    it('says which elements of lists have no value, and begins them with none', async () => {
      const { page, stored } = await inForm()
      for (const button of await page.$$('button::-p-text(Add)')) await button.click()
      const size = await field(page, 'Sizes 1')
      expect(await size.evaluate((one) => one.selectedOptions[0]?.text)).toBe('Choose …')
      await press(page, 'Save')
      await sees(page, 'Some fields need another value.')
      expect(await texts(page, '.field .error')).toEqual(new Array(4).fill('Enter a value.'))
      await choose(page, 'Sizes 1', 'M')
      await write(page, 'Marks 1', 'good')
      await write(page, 'Text', 'go')
      await write(page, 'Friends 1', 'Person 044')
      await found(page, '[role="option"]::-p-text(Person 044)')
      await page.keyboard.press('Enter')
      await save(page)
      expect(await stored()).toMatchObject({
        sizes: ['M'],
        marks: ['good'],
        steps: [{ text: 'go' }],
        friends: [expect.any(String)],
      })
    })

    it('takes a year of four digits, and the time that is typed after it', async () => {
      const { page } = await inForm()
      await (await field(page, 'Due')).focus()
      await page.keyboard.type('01022027101530AM')
      expect(await written(page, 'Due')).toBe('2027-01-02T10:15')
    })

    it('keeps the time that was typed while the day is on its way over a night without it', async () => {
      const { id, page, stored } = await inForm({ due: new Date('2026-04-29T00:30:00Z') })
      await page.emulateTimezone('Europe/Berlin')
      await page.reload()
      await (await field(page, 'Due')).focus()
      // With the month it is the 29th of March, where 2:30 is skipped.
      await page.keyboard.type('0328')
      expect(await written(page, 'Due')).toBe('2026-03-28T02:30')
      await save(page)
      expect((await stored())?.due).toEqual(new Date('2026-03-28T01:30:00Z'))
      await (await field(page, 'Due')).focus()
      await page.keyboard.type('0329')
      await (await field(page, 'Title')).focus()
      expect(await written(page, 'Due')).toBe('2026-03-29T03:30')
      await things().delete(id)
    })
  })

  it('Two changes of a list are shown with all that it has', async () => {
    const steps = (minutes: number) => [{ text: 'saw', minutes }, { text: 'sand' }]
    const { id, page } = await inForm({ steps: steps(1) })
    await write(page, 'Minutes', '2')
    await things().update(id, { steps: steps(3) })
    await press(page, 'Save')
    await sees(page, 'Someone else has changed this record')
    const [theirs, mine] = await texts(page, '.conflict label')
    expect(theirs).toContain('Text: sawMinutes: 3Text: sand')
    expect(mine).toContain('Text: sawMinutes: 2Text: sand')
  })

  it('A chart by time ends with what is latest', async () => {
    const days = Array.from({ length: 45 }, (_, at) => new Date(Date.UTC(2026, 0, at + 1)))
    for (const due of days) {
      const thing = { title: 'Dated', nick: null, colour: 'red', isOpen: true, due }
      await things().insert(thing as never)
    }
    const page = await shown('/things')
    await press(page, 'Chart')
    await found(page, '.chart th')
    const shownDays = await texts(page, '.chart th')
    expect(shownDays).toHaveLength(40)
    expect([shownDays[0], shownDays.at(-1)]).toEqual(['2026-01-06', '2026-02-14'])
  })

  describe('An address', () => {
    const filtered = (filter: string) => shown(`/things?filter=${encodeURIComponent(filter)}`)

    it.each([
      '{"rules":',
      '{"rules":"title"}',
      '{"rules":[null]}',
      '{"rules":[{"field":"title","operator":"eq"}]}',
      '{"title":"Thing"}',
    ])('whose filter cannot be read lists nothing: %s', async (filter) => {
      const page = await filtered(filter)
      await sees(page, 'The address of this list cannot be read.')
      expect(await page.$('table')).toBeNull()
      await follow(page, 'Clear search and filters')
      await found(page, 'td a.name')
    })

    it.each([
      { field: 'isOpen', operator: 'eq', value: 'maybe' },
      { field: 'rating', operator: 'gte', value: 'many' },
    ])('whose value the app cannot read says so: $field', async (rule) => {
      const page = await filtered(JSON.stringify({ rules: [rule] }))
      await sees(page, `Invalid value for ${rule.field}.`)
    })
  })
})
