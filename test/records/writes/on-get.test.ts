import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type OnGet, ref } from '../../../src/index.ts'
import { service } from '../service.ts'

const Owner = defineModel('OnGetOwner', {
  fields: { name: z.string(), password: z.string() },
  hidden: ['password'],
})
const Thing = defineModel('OnGetThing', {
  fields: {
    name: z.string(),
    owner: ref('OnGetOwner').optional(),
    size: z.number().optional(),
    secret: z.string().optional(),
  },
  hidden: ['secret'],
})

/** One thing with an owner, behind `onGet`. */
async function things(onGet: OnGet) {
  const served = service()
  const owner = await served.app.store.collection(Owner).insert({ name: 'Ann', password: 'p' })
  const stored = served.app.store.collection(Thing)
  const thing = await stored.insert({ name: 'a', owner: owner._id, size: 1, secret: 's' })
  served.app.mount(
    '/things',
    createRouter({ model: Thing, allowedFields: ['name', 'owner'], onGet }),
  )
  return { ...served, owner, thing, stored, path: `/things/${thing._id}` }
}

describe('4.1 onGet applicability', () => {
  test('4.1 onGet applicability: GET /, QUERY /, GET /:id and the answer of PATCH /:id, not POST or DELETE', async () => {
    const seen: string[] = []
    const { send, path, owner, thing } = await things(({ method }) => {
      seen.push(method)
      return { populate: 'owner', select: ['name', 'owner'] }
    })
    const shown = { _id: thing._id, name: 'a', owner: { _id: owner._id, name: 'Ann' } }
    expect((await send('GET', '/things')).records).toEqual([shown])
    expect((await send('QUERY', '/things', { json: {} })).records).toEqual([shown])
    expect((await send('GET', path)).record).toEqual(shown)
    expect((await send('PATCH', path, { json: { name: 'b' } })).record).toEqual({
      ...shown,
      name: 'b',
    })
    const created = await send('POST', '/things', { json: { name: 'c', owner: owner._id } })
    expect(created.record).toEqual({ _id: created.record._id, name: 'c', owner: owner._id })
    expect((await send('DELETE', path)).body).toEqual({
      success: true,
      message: 'Item successfully deleted.',
    })
    expect(seen).toEqual(['GET', 'QUERY', 'GET', 'PATCH'])
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('broken')
      },
    ],
    ['selects by what is no name', () => ({ select: [5] })],
    ['selects by what is no list', () => ({ select: { name: 1 } })],
  ])(
    '4.1 onGet applicability: when it %s, reads succeed without populate and select, and hide what is hidden',
    async (_, onGet) => {
      const { send, path, owner, thing, log } = await things(onGet as OnGet)
      const plain = { _id: thing._id, name: 'a', owner: owner._id, size: 1 }
      expect(await send('GET', '/things')).toMatchObject({ status: 200, records: [plain] })
      expect((await send('QUERY', '/things', { json: {} })).records).toEqual([plain])
      expect((await send('GET', path)).record).toEqual(plain)
      expect((await send('PATCH', path, { json: { name: 'b' } })).record).toEqual({
        ...plain,
        name: 'b',
      })
      expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(4)
    },
  )

  test.each([undefined, null, {}])(
    'answers, Writes: onGet that returns %o changes nothing',
    async (returned) => {
      const { send, path, owner, thing } = await things((() => returned) as OnGet)
      expect((await send('GET', path)).record).toEqual({
        _id: thing._id,
        name: 'a',
        owner: owner._id,
        size: 1,
      })
    },
  )

  test('answers, Writes: populate is a name, { path, select }, or a list; populates and selects are taken too', async () => {
    const { thing, owner, ...other } = await things(({ query }) => JSON.parse(String(query.as)))
    const read = async (as: object) => {
      const parameter = encodeURIComponent(JSON.stringify(as))
      return (await other.send('GET', `${other.path}?as=${parameter}`)).record
    }
    const full = { _id: owner._id, name: 'Ann' }
    const plain = { _id: thing._id, name: 'a', owner: owner._id, size: 1 }
    expect(await read({ populate: 'owner' })).toEqual({ ...plain, owner: full })
    expect(await read({ populate: { path: 'owner', select: ['name'] } })).toEqual({
      ...plain,
      owner: full,
    })
    expect(await read({ populate: { path: 'owner', select: '-name' } })).toEqual({
      ...plain,
      owner: { _id: owner._id },
    })
    expect(await read({ populate: [{ path: 'owner' }] })).toEqual({ ...plain, owner: full })
    expect(await read({ populates: ['owner'] })).toEqual({ ...plain, owner: full })
    expect(await read({ selects: ['name'] })).toEqual({ _id: thing._id, name: 'a' })
    expect(await read({ select: ['-name', '-_id'] })).toEqual({
      _id: thing._id,
      owner: owner._id,
      size: 1,
    })
    expect(await read({ select: 'name size' })).toEqual({ _id: thing._id, name: 'a', size: 1 })
  })

  test('answers, Writes: no select shows a hidden field, here or in what is populated', async () => {
    const { thing, owner, ...other } = await things(() => ({
      select: ['secret', 'owner'],
      populate: { path: 'owner', select: ['password', 'name'] },
    }))
    const shown = { _id: thing._id, owner: { _id: owner._id, name: 'Ann' } }
    expect((await other.send('GET', other.path)).record).toEqual(shown)
    expect((await other.send('PATCH', other.path, { json: { name: 'b' } })).record).toEqual(shown)
    const excluding = await things(() => ({
      select: ['-name'],
      populate: { path: 'owner', select: ['-name'] },
    }))
    expect((await excluding.send('GET', excluding.path)).text).not.toMatch(/secret|password/)
    const only = await things(() => ({ select: ['secret'] }))
    expect((await only.send('GET', only.path)).record).toEqual({ _id: only.thing._id })
  })
})
