/**
 * A workshop: things with files, lists and defaults, whose owners are many, below a router with small pages.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { HTTPRequest, Page } from 'puppeteer-core'
import { inject } from 'vitest'
import * as z from 'zod'
import { diskFiles } from '../../adapters/files/disk.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { admin } from '../../packages/admin/src/index.ts'
import { type App, createApp, createRouter, defineModel, ref } from '../../src/index.ts'

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
