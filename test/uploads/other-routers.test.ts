/**
 * A file field is protected in every router of its model, whichever of them takes the uploads (review R11).
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { diskFiles } from '../../adapters/files/disk.ts'
import {
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
  type Mountable,
  userFields,
} from '../../src/index.ts'
import { service } from '../records/service.ts'
import { form, png } from './png.ts'

const fields = {
  title: z.string(),
  owner: z.string().optional(),
  file: z.string().nullable().optional(),
  pages: z.array(z.string()).optional(),
  cover: z.object({ url: z.string() }).nullable().optional(),
  sheets: z.array(z.object({ url: z.string() })).optional(),
}
const Doc = defineModel('Doc', { fields })
const fileFields = [
  { name: 'file' },
  { name: 'pages', maxCount: 3 },
  { name: 'cover', formatToUrlObject: true },
  { name: 'sheets', maxCount: 2, formatToUrlObject: true },
] as const
const names = fileFields.map(({ name }) => name)

/** The router that takes uploads: each sees their own records, with signed links. */
const uploads = () =>
  createRouter({
    model: Doc,
    middlewares: [],
    scope: (request) => ({ owner: request.headers.get('x-user') ?? 'nobody' }),
    upload: { path: 'docs/', fields: fileFields, signUrls: 60 },
  })
const plain = () => createRouter({ model: Doc, middlewares: [] })
const scans = () =>
  createRouter({
    model: Doc,
    middlewares: [],
    upload: { path: 'scans/', fields: [{ name: 'file' }] },
  })

function library(mounts: Readonly<Record<string, Mountable>>) {
  const root = mkdtempSync(join(tmpdir(), 'fieldgate-library-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const files = diskFiles({ root, secret: 'a secret of at least thirty-two characters' })
  const served = service({ files, secret: 'a secret of at least thirty-two characters' })
  for (const [path, router] of Object.entries(mounts)) served.app.mount(path, router)
  const as = (user: string) => ({ 'x-user': user })
  return {
    ...served,
    files,
    as,
    upload: (path: string, parts: Parameters<typeof form>[0], user = 'ann', method = 'POST') =>
      served.send(method, path, { body: form(parts), headers: as(user) }),
    async keys() {
      const keys: string[] = []
      for await (const { key } of files.list('')) keys.push(key)
      return keys.sort()
    },
    /** A record as it is stored. */
    stored: async (record: Fields) =>
      (await served.app.store.collection(Doc).findById(String(record._id))) as unknown as Fields,
  }
}

const everyField = { file: png, pages: [png, png], cover: png, sheets: png }

/** Every way in which a body of JSON can name `url` in the file fields. */
const bodiesWith = (url: string): Fields[] => [
  { file: url },
  { file: [url] },
  { file: { url } },
  { pages: [url] },
  { pages: url },
  { pages: [[url]] },
  { pages: [{ url }] },
  { cover: { url } },
  { cover: url },
  { sheets: [{ url }] },
  { sheets: { url } },
  { sheets: { 0: { url } } },
]

for (const [order, mounts] of Object.entries({
  before: () => ({ '/plain': plain(), '/docs': uploads() }),
  after: () => ({ '/docs': uploads(), '/plain': plain() }),
})) {
  describe(`a router without upload that is mounted ${order} the one with it`, () => {
    it('takes no URL that is not stored, in a POST or a PATCH', async () => {
      const { upload, send, stored, as, keys } = library(mounts())
      const ann = (await upload('/docs', { title: 'a', ...everyField })).record
      const before = await keys()
      const { file } = await stored(ann)
      const links = [String(file), String(ann.file)]
      for (const body of links.flatMap(bodiesWith)) {
        const json = { title: 'b', owner: 'bob', ...body }
        const made = await send('POST', '/plain', { json })
        const kept = await stored(made.record)
        for (const name of names) expect(kept[name], JSON.stringify(body)).toBeUndefined()
        await send('PATCH', `/plain/${made.record._id}`, { json })
        expect(await stored(made.record)).toEqual(kept)
        const read = await send('GET', `/docs/${made.record._id}`, { headers: as('bob') })
        expect(read.text).not.toContain('/uploads/')
        await send('DELETE', `/docs/${made.record._id}`, { headers: as('bob') })
      }
      expect(await keys()).toEqual(before)
    })

    it('keeps what is stored, and clears it with its object', async () => {
      const { upload, send, stored, keys } = library(mounts())
      const made = (await upload('/docs', { title: 'a', ...everyField })).record
      const before = await stored(made)
      const path = `/plain/${made._id}`
      const same = Object.fromEntries(names.map((name) => [name, before[name]]))
      expect((await send('PATCH', path, { json: { ...same, title: 'b' } })).status).toBe(200)
      expect(await stored(made)).toEqual({ ...before, title: 'b' })
      expect(await keys()).toHaveLength(5)
      const [first] = before.pages as string[]
      const fewer = { file: null, pages: [first], cover: null, sheets: [] }
      expect((await send('PATCH', path, { json: fewer })).status).toBe(200)
      expect(await stored(made)).toMatchObject({ pages: [first], sheets: [] })
      expect(await keys()).toHaveLength(1)
    })

    it('removes the objects of a record that it deletes', async () => {
      const { upload, send, keys } = library(mounts())
      const made = (await upload('/docs', { title: 'a', ...everyField })).record
      expect((await send('DELETE', `/plain/${made._id}`)).status).toBe(200)
      expect(await keys()).toEqual([])
    })
  })
}

describe('several routers that take uploads for one model', () => {
  it('protect the fields of each other, and remove what each has stored', async () => {
    const { upload, send, stored, keys } = library({ '/docs': uploads(), '/scans': scans() })
    const ann = await stored((await upload('/docs', { title: 'a', ...everyField })).record)
    const [page = ''] = ann.pages as string[]
    const text = { title: 'b', pages: [page], 'pages[]': page, 'cover[url]': page, file: page }
    const bob = (await upload('/scans', text, 'bob')).record
    for (const name of names) expect(bob[name]).toBeUndefined()
    const replaced = await upload(`/scans/${ann._id}`, { file: png }, 'ann', 'PATCH')
    expect(replaced.status).toBe(200)
    expect(await keys()).toHaveLength(5)
    expect((await keys()).filter((key) => key.startsWith('scans/'))).toHaveLength(1)
    await send('DELETE', `/docs/${ann._id}`, { headers: { 'x-user': 'ann' } })
    expect(await keys()).toEqual([])
  })
})

describe('an object that two records hold, as code of the app may have it', () => {
  it('goes with the last of them', async () => {
    const { upload, send, stored, app, keys } = library({ '/docs': uploads(), '/plain': plain() })
    const ann = await stored((await upload('/docs', { title: 'a', ...everyField })).record)
    const { _id, ...copy } = ann
    const [first] = ann.pages as string[]
    const twin = await app.store.collection(Doc).insert({ ...copy, title: 'twin' } as never)
    await send('PATCH', `/plain/${_id}`, { json: { file: null, pages: [first] } })
    expect(await keys()).toHaveLength(5)
    await send('DELETE', `/plain/${_id}`)
    expect(await keys()).toHaveLength(5)
    await send('DELETE', `/plain/${twin._id}`)
    expect(await keys()).toEqual([])
  })
})

describe('accounts whose model has a file field', () => {
  it('take no URL in it at registration or in a profile', async () => {
    const secret = 'a secret of at least thirty-two characters'
    const avatar = z.string().nullable().optional()
    const User = defineModel('User', { fields: { ...userFields(), avatar }, unique: ['email'] })
    const auth = createAuthRouter({
      model: User,
      token: { secret },
      registerFields: ['email', 'avatar'],
      updateFields: ['avatar'],
    } as never)
    const pictures = createRouter({
      model: User,
      middlewares: [],
      allowedFields: ['avatar'],
      upload: { path: 'avatars/', fields: [{ name: 'avatar' }] },
    })
    const { send, app, keys, upload } = library({ '/auth': auth.router, '/pictures': pictures })
    const account = async (email: string, more: Fields = {}) => {
      const json = { email, password: 'correct horse battery', ...more }
      const { token, user } = (await send('POST', '/auth/register', { json })).record
      return { id: String((user as Fields)._id), headers: { authorization: `Bearer ${token}` } }
    }
    const urlOf = async ({ id }: { id: string }) =>
      (await app.store.collection(User).findById(id))?.avatar
    const ann = await account('ann@example.com')
    await upload(`/pictures/${ann.id}`, { avatar: png }, 'ann', 'PATCH')
    const url = await urlOf(ann)
    expect(url).toContain('/uploads/avatars/')
    const bob = await account('bob@example.com', { avatar: url })
    expect(await urlOf(bob)).toBeUndefined()
    await send('PATCH', `/auth/users/${bob.id}`, { json: { avatar: url }, headers: bob.headers })
    expect(await urlOf(bob)).toBeUndefined()
    const keep = { json: { avatar: url }, headers: ann.headers }
    expect((await send('PATCH', `/auth/users/${ann.id}`, keep)).status).toBe(200)
    expect(await urlOf(ann)).toBe(url)
    const clear = { json: { avatar: null }, headers: ann.headers }
    expect((await send('PATCH', `/auth/users/${ann.id}`, clear)).status).toBe(200)
    expect(await urlOf(ann)).toBeNull()
    expect(await keys()).toEqual([])
  })
})
