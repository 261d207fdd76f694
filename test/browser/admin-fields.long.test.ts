import type { Page } from 'puppeteer-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { admin } from '../../packages/admin/src/index.ts'
import { batch } from '../../src/batch/index.ts'
import { type App, createApp, createRouter, defineModel } from '../../src/index.ts'
import { Served } from '../admin/library.ts'
import { choose, click, field, follow, press, sees, write } from '../admin/screens.ts'
import { withService } from '../services/shared.ts'

const Kit = defineModel('Kit', {
  fields: {
    name: z.string().min(1),
    size: z.enum(['small', 'large']).nullable(),
    isTried: z.boolean().nullable(),
    remark: z.string().nullable(),
    isSealed: z.boolean(),
    maker: z.object({
      mail: z.email().optional(),
      place: z.object({ city: z.string() }).optional(),
    }),
    box: z
      .object({ label: z.string().min(1), isHeavy: z.boolean(), mail: z.email().optional() })
      .optional(),
    parts: z.array(z.object({ label: z.string(), isSpare: z.boolean() })).optional(),
    code: z.union([z.string(), z.number()]).optional(),
  },
})

const Label = defineModel('Label', { fields: { name: z.string() }, id: 'text' })

await withService('chromium', () => {
  const app = createApp({ store: sqliteStore(), logger: { ...console, warn() {}, info() {} } })
  app.mount('/kits', createRouter({ model: Kit, middlewares: [] }))
  app.mount('/labels', createRouter({ model: Label, middlewares: [] }))
  app.mount('/batch', batch()).mount('/admin', admin())
  const kits = app.store.collection(Kit)
  const served = new Served(() => app as unknown as App)

  /** A window with the list, or with the form of a record. */
  async function shown(path: string, list = 'kits'): Promise<Page> {
    const url = `${served.base}#/${list}${path}`
    const { page } = await served.chromium.open(url, await served.chromium.user())
    onTestFinished(() => page.browserContext().close())
    return page
  }
  async function kit(values: object): Promise<string> {
    const plain = {
      name: 'Kit',
      size: null,
      isTried: null,
      remark: null,
      isSealed: true,
      maker: {},
    }
    return (await kits.insert({ ...plain, ...values } as never))._id
  }
  /** Saves the form, and waits for the record to be `wanted`. */
  async function saves(page: Page, id: string, wanted: object): Promise<void> {
    await press(page, 'Save')
    await expect.poll(() => kits.findById(id), { timeout: 10_000 }).toMatchObject(wanted)
  }
  async function clear(page: Page, label: string): Promise<void> {
    await write(page, label, '')
  }

  describe('Fields of a form', () => {
    it('may be left empty where they may be null, and be emptied again', async () => {
      const page = await shown('/create')
      await write(page, 'Name', 'Lamp')
      await write(page, 'Remark', 'new')
      await clear(page, 'Remark')
      expect(await (await field(page, 'Size')).evaluate((one) => one.value)).toBe('')
      await press(page, 'Create')
      await sees(page, 'Created.')
      const made = await kits.findOne({ name: 'Lamp' })
      expect(made).toMatchObject({ size: null, isTried: null, remark: null, maker: {} })
      const id = made?._id ?? ''
      await choose(page, 'Size', 'large')
      await choose(page, 'Is tried', 'Yes')
      await saves(page, id, { size: 'large', isTried: true })
      // Before the page knows of it, what it holds is a draft.
      await sees(page, 'Saved.')
      await page.reload()
      await choose(page, 'Size', '–')
      await choose(page, 'Is tried', '–')
      await saves(page, id, { size: null, isTried: null })
    })

    it('of objects begin with what they show, and leave nothing behind when they are emptied', async () => {
      const id = await kit({ maker: { mail: 'a@example.com' } })
      const page = await shown(`/record/${id}`)
      await write(page, 'City', 'Oslo')
      await clear(page, 'City')
      await clear(page, 'Mail')
      await write(page, 'Label', 'A')
      await saves(page, id, { box: { label: 'A', isHeavy: false } })
      expect((await kits.findById(id))?.maker).toEqual({})
      await press(page, 'Add Parts')
      await press(page, 'Save')
      await sees(page, 'Enter a value.')
      await write(page, 'Label', '')
      await (await page.$('.item input'))?.type('screw')
      await press(page, 'Remove Box')
      await saves(page, id, { parts: [{ label: 'screw', isSpare: false }] })
      expect(await kits.findById(id)).not.toHaveProperty('box')
    })

    it('of several types are JSON, which tells a number from a text', async () => {
      const id = await kit({ code: 5 })
      const page = await shown(`/record/${id}`)
      const code = await field(page, 'Code')
      expect(await code.evaluate((one) => one.value)).toBe('5')
      await write(page, 'Code', '67')
      await saves(page, id, { code: 67 })
    })

    it('are changed for many records as the control shows them', async () => {
      const id = await kit({ name: 'Of many' })
      const page = await shown('')
      await sees(page, 'Of many')
      await (await field(page, 'Select Of many')).click()
      await press(page, 'Change a field')
      await choose(page, 'Field to change', 'Is sealed')
      await press(page, 'Change')
      await sees(page, '1 record changed.')
      expect(await kits.findById(id)).toMatchObject({ isSealed: false })
    })
  })

  it('Records are deleted together by their ids, whatever these are', async () => {
    const labels = app.store.collection(Label)
    for (const [_id, name] of Object.entries({ a: 'plain', 'a?b': 'asked', 'c/d e': 'parted' }))
      await labels.insert({ _id, name } as never)
    const page = await shown('', 'labels')
    await (await field(page, 'Select asked')).click()
    await (await field(page, 'Select parted')).click()
    await press(page, 'Delete')
    await click(page, 'dialog button.danger')
    await expect.poll(() => labels.count(), { timeout: 10_000 }).toBe(1)
    expect(await labels.findById('a')).toMatchObject({ name: 'plain' })
  })

  it('A record is opened and changed by its id, whatever that is', async () => {
    const labels = app.store.collection(Label)
    const ids = ['%2F', '/', '%', '%252F', 'a?b', 'a#b', 'a/b', 'é b', '.a', 'create']
    for (const [at, _id] of ids.entries())
      await labels.insert({ _id, name: `label ${at}` } as never)
    const page = await shown('', 'labels')
    for (const [at, id] of ids.entries()) {
      await follow(page, `label ${at}`)
      await write(page, 'Name', `changed ${at}`)
      await press(page, 'Save')
      await sees(page, 'Saved')
      expect(await labels.findById(id)).toMatchObject({ name: `changed ${at}` })
      // What is said of the first change ends with the next one, at the same path.
      await write(page, 'Name', `again ${at}`)
      await press(page, 'Save')
      await sees(page, 'Saved')
      expect(await labels.findById(id)).toMatchObject({ name: `again ${at}` })
      await page.goto(`${served.base}#/labels`)
    }
  })
})
