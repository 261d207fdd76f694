/**
 * A workshop: things with files, lists and defaults, whose owners are many, below a router with small pages.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { HTTPRequest, Page } from 'puppeteer-core'
import { inject, onTestFinished } from 'vitest'
import * as z from 'zod'
import { diskFiles } from '../../adapters/files/disk.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { admin } from '../../packages/admin/src/index.ts'
import { type App, createApp, createRouter, defineModel, ref } from '../../src/index.ts'
import type { Served } from './library.ts'
import { field } from './screens.ts'

/** People have an `id` of their own. */
export const Person = defineModel('Person', {
  fields: { id: z.string().optional(), name: z.string(), note: z.string().optional() },
})

export const Thing = defineModel('Thing', {
  fields: {
    title: z.string().min(1),
    story: z.string().optional(),
    nick: z.string().nullable(),
    owner: ref('Person').optional(),
    friends: z.array(ref('Person')).optional(),
    sizes: z.array(z.enum(['S', 'M', 'L'])).optional(),
    marks: z.array(z.string()).optional(),
    steps: z.array(z.object({ text: z.string(), minutes: z.number().int().optional() })).optional(),
    colour: z.enum(['red', 'green']).default('red'),
    isOpen: z.boolean().default(true),
    due: z.date().optional(),
    rating: z.number().optional(),
    extra: z.unknown().optional(),
    photo: z.string().optional(),
    papers: z.array(z.object({ url: z.string() })).optional(),
  },
})

/** How many people there are. */
export const PEOPLE = 130

/** The app, with one thing that is new. */
export async function workshop(): Promise<App> {
  const secret = 'a secret of at least 32 characters, for tests'
  const files = diskFiles({ root: join(inject('folder'), randomUUID()), secret })
  const logger = { debug() {}, info() {}, warn() {}, error: console.error }
  const app = createApp({ store: sqliteStore(), files, logger })
  app
    .mount(
      '/things',
      createRouter({
        model: Thing,
        middlewares: [],
        search: ['title'],
        filterableFields: ['title', 'rating', 'isOpen', 'due'],
        aggregates: { by: ['due:day', 'isOpen'], of: ['rating'] },
        allowedFields: Object.keys(Thing.fields) as never,
        upload: {
          acl: 'public-read',
          fields: [{ name: 'photo' }, { name: 'papers', maxCount: 5, formatToUrlObject: true }],
        },
      }),
    )
    .mount(
      '/people',
      createRouter({
        model: Person,
        middlewares: [],
        maxLimit: 20,
        allowedFields: ['id', 'name', 'note'],
      }),
    )
    .mount('/admin', admin({ title: 'Workshop' }))
  for (let at = 0; at < PEOPLE; at += 1) {
    const name = `Person ${String(at).padStart(3, '0')}`
    await app.store.collection(Person).insert({ name, id: `own-${at}` })
  }
  return app as unknown as App
}

/** Holds back requests of a page. What is returned lets them go. */
export async function heldBack(
  page: Page,
  isHeld: (request: HTTPRequest) => boolean,
): Promise<{ readonly release: () => Promise<void>; readonly first: Promise<unknown> }> {
  const held: HTTPRequest[] = []
  const first = Promise.withResolvers<unknown>()
  const hold = (request: HTTPRequest) => {
    if (!isHeld(request)) return void request.continue()
    held.push(request)
    first.resolve(undefined)
  }
  await page.setRequestInterception(true)
  page.on('request', hold)
  return {
    first: first.promise,
    async release() {
      page.off('request', hold)
      await Promise.all(held.map((request) => request.continue()))
      await page.setRequestInterception(false)
    },
  }
}

/** What opens pages of the workshop for a user, each in a browser context of its own. */
export function visitorOf(served: Served) {
  const things = () => served.app.store.collection(Thing)
  async function shown(path: string): Promise<Page> {
    const { page } = await served.chromium.open(undefined, await served.chromium.user())
    onTestFinished(() => page.browserContext().close())
    await page.setViewport({ width: 1200, height: 2400 })
    await page.goto(`${served.base}#${path}`)
    return page
  }
  /** The form of a thing, once it is there. */
  async function inForm(values: object = {}) {
    const thing = { title: 'Thing', nick: null, colour: 'red', isOpen: true, ...values }
    const { _id: id } = await things().insert(thing as never)
    const page = await shown(`/things/record/${id}`)
    await field(page, 'Title')
    return { id, page, stored: () => things().findById(id) }
  }
  return { shown, inForm }
}

/** What stands in a field of a form. */
export async function written(page: Page, label: string): Promise<string> {
  return (await field(page, label)).evaluate((one) => one.value)
}
