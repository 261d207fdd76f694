/**
 * What `find`, `count` and `aggregate` of `app.store` take beyond conditions on one collection, on any store.
 *
 * @module
 */

import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  type App,
  type Collections,
  createRouter,
  defineModel,
  ref,
  type Store,
} from '../../../src/index.ts'
import { service } from '../service.ts'

const Club = defineModel('OwnClub', { fields: { name: z.string().max(50) } })
const Member = defineModel('OwnMember', {
  fields: { name: z.string().max(50), pin: z.string().max(9), club: ref('OwnClub') },
  hidden: ['pin'],
})
const Tool = defineModel('OwnTool', {
  fields: {
    name: z.string().max(50),
    price: z.number(),
    tags: z.array(z.string().max(20)).optional(),
    place: z.object({ shelf: z.string().max(20), keeper: ref('OwnMember') }).optional(),
    note: z.string().max(50).optional(),
    owner: ref('OwnMember'),
    helpers: z.array(ref('OwnMember')).optional(),
  },
  hidden: ['note'],
})
const NOBODY = 'f'.repeat(24)

/** An app without a router, so that nothing is declared to be searched. */
function bare(store: Store): App {
  const { app } = service({ store })
  for (const model of [Club, Member, Tool]) app.store.collection(model as never)
  return app
}

/** The same with a router that searches tools by their name and owner. */
function searched(store: Store): App {
  const app = bare(store)
  const scope = () => ({ name: 'nobody' })
  app.mount('/members', createRouter({ model: Member, middlewares: [], scope }))
  return app.mount(
    '/tools',
    createRouter({ model: Tool, middlewares: [], search: ['name', 'owner.name'] }),
  )
}

async function fill(app: App) {
  const club = await app.store.collection(Club).insert({ name: 'Basel' })
  const members = app.store.collection(Member)
  const ann = await members.insert({ name: 'Ann Ötzi', pin: '1234', club: club._id })
  const bob = await members.insert({ name: 'Bob', pin: '1234', club: NOBODY })
  const tools = app.store.collection(Tool)
  const saw = await tools.insert({
    ...{ name: 'Säge 1', price: 10, owner: ann._id, note: 'rusty', tags: ['wood', 'sharp'] },
    ...{ place: { shelf: 'A sharp end', keeper: bob._id }, helpers: [bob._id, NOBODY, ann._id] },
  })
  const axe = await tools.insert({ name: 'axe 2', price: 20, owner: bob._id, note: 'säge' })
  const drill = await tools.insert({ name: 'Drill', price: 30, owner: NOBODY })
  return { club, ann, bob, saw, axe, drill, tools }
}

const names = (records: readonly { readonly name: string }[]) =>
  records.map(({ name }) => name).join()

/** Registers the tests for one store. */
export function ownLists(name: string, open: () => Store): void {
  describe(`app.store on ${name}`, () => {
    test('finds and counts what one of several filters admits', async () => {
      const { tools } = await fill(bare(open()))
      const or = [{ name: 'Drill' }, { price: { lt: 15 } }]
      expect(names(await tools.find({ or }, { sort: 'price' }))).toBe('Säge 1,Drill')
      expect(await tools.count({ or, price: { gt: 10 } })).toBe(1)
      await expect(tools.find({ or: [{ price: 1 }] })).rejects.toMatchObject({
        status: 400,
        message: "'or' must be a list of 2 to 20 filters.",
      })
    })

    test('searches all strings that are not hidden where no router searches', async () => {
      const { tools } = await fill(bare(open()))
      expect(names(await tools.find({}, { s: 'SÄGE' }))).toBe('Säge 1')
      expect(names(await tools.find({}, { s: 'ood' }))).toBe('Säge 1')
      expect(names(await tools.find({ price: { gt: 5 } }, { s: 'sharp end' }))).toBe('Säge 1')
      expect(names(await tools.find({}, { s: 'e', sort: '-price', limit: 1 }))).toBe('axe 2')
      expect(await tools.find({}, { s: 'ann' })).toEqual([])
      expect(await tools.count({}, { s: 'rusty' })).toBe(0)
      expect(await tools.count({}, { s: 'e' })).toBe(2)
      expect(await tools.count({ price: 20 }, { s: 'e' })).toBe(1)
      expect(await tools.count({}, { s: '' })).toBe(3)
    })

    test('searches as the routers do, and no scope limits it', async () => {
      const app = searched(open())
      const { tools } = await fill(app)
      expect(names(await tools.find({}, { s: 'säge' }))).toBe('Säge 1')
      expect(names(await tools.find({}, { s: 'ötzi' }))).toBe('Säge 1')
      expect(names(await tools.find({}, { s: 'bo', select: ['name'] }))).toBe('axe 2')
      expect(await tools.count({}, { s: 'sharp' })).toBe(0)
      const { body } = await app.handle(new Request('http://x/tools?s=%C3%B6tzi'))
      expect((await new Response(body).json()).data).toEqual([])
      await expect(tools.find({}, { s: 5 } as never)).rejects.toMatchObject({ status: 400 })
      await expect(tools.count({}, { s: 'x'.repeat(129) })).rejects.toThrow('exceeds 128')
    })

    test('fills in references, without hidden fields', async () => {
      const { tools, club, ann, bob, saw } = await fill(bare(open()))
      const [found] = await tools.find(
        { _id: saw._id },
        { expand: ['owner.club', 'helpers', 'place.keeper'] },
      )
      const shownBob = { _id: bob._id, name: 'Bob', club: NOBODY }
      expect(found).toEqual({
        ...saw,
        owner: { _id: ann._id, name: 'Ann Ötzi', club },
        helpers: [shownBob, { _id: ann._id, name: 'Ann Ötzi', club: club._id }],
        place: { shelf: 'A sharp end', keeper: shownBob },
      })
      const all = await tools.find({}, { expand: ['owner'], select: ['name'], sort: 'price' })
      expect(all.map(({ owner }) => owner?.name)).toEqual(['Ann Ötzi', 'Bob', undefined])
      expect(all[2]).toEqual({ _id: expect.any(String), name: 'Drill', owner: null })
      const [part] = await tools.find(
        { name: 'axe 2' },
        { expand: ['owner'], select: ['price', 'owner.name'] },
      )
      expect(part).toEqual({
        ...{ _id: expect.any(String), price: 20 },
        owner: { _id: bob._id, name: 'Bob' },
      })
      const [less] = await tools.find({ name: 'axe 2' }, { expand: ['owner'], select: ['-price'] })
      expect(less).toMatchObject({ note: 'säge', owner: { name: 'Bob' } })
      expect(less).not.toHaveProperty('price')
      for (const wrong of ['name', 'owner.name', 'owner.club.name', 'x.y']) {
        await expect(tools.find({}, { expand: [wrong as 'name'] })).rejects.toMatchObject({
          status: 400,
          message: `Field '${wrong}' cannot be expanded.`,
        })
      }
    })

    test('shows in an atomic step what the step has written', async () => {
      const app = searched(open())
      const { bob, axe } = await fill(app)
      const seen = await app.store.atomic(async (tx: Collections) => {
        const tools = tx.collection(Tool)
        await tx.collection(Member).update(bob._id, { name: 'Robert' })
        await tools.update(axe._id, { name: 'hatchet', price: 25 })
        await tools.insert({ name: 'rake', price: 5, owner: bob._id })
        return {
          found: await tools.find({}, { s: 'hatch', expand: ['owner'] }),
          owned: names(await tools.find({}, { s: 'robert', sort: 'price' })),
          count: await tools.count({ or: [{ name: 'rake' }, { price: 25 }] }),
          sums: await tools.aggregate({ count: true, sum: ['price'], filter: { owner: bob._id } }),
        }
      })
      expect(seen).toMatchObject({
        found: [{ name: 'hatchet', owner: { _id: bob._id, name: 'Robert' } }],
        owned: 'rake,hatchet',
        count: 2,
        sums: [{ count: 2, sum: { price: 30 } }],
      })
    })

    test('groups records', async () => {
      const { tools, ann, bob } = await fill(bare(open()))
      const filter = { or: [{ name: 'axe 2' }, { name: 'Säge 1' }] }
      const groups = await tools.aggregate({
        ...{ count: true, sum: ['price'], by: ['owner'], filter, sort: '-sum.price' },
      } as const)
      expect(groups).toEqual([
        { owner: bob._id, count: 1, sum: { price: 20 } },
        { owner: ann._id, count: 1, sum: { price: 10 } },
      ])
    })
  })
}
