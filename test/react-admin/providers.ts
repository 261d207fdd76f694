/**
 * react-admin itself over the providers: its hooks, in a page, against an app on 127.0.0.1. The test copies this program
 * to where react-admin is installed, and runs it there.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { JSDOM } from 'jsdom'
import type { AuthProvider, DataProvider } from 'ra-core'
import { reactAdminAuth, reactAdminData } from '../../adapters/clients/react-admin.ts'
import { createClient } from '../../src/client/index.ts'
import { served, type TestApp } from '../../test/client/app.ts'
import { freshClient, makeGlobal } from '../../test/client/fresh.ts'

// react-admin and React look for these when they are loaded.
const page = new JSDOM('<!doctype html><div id="root"></div>', { url: 'http://127.0.0.1/' })
const { window } = page
makeGlobal(window)
const { createElement } = await import('react')
const { createRoot } = await import('react-dom/client')
const ra = await import('ra-core')

let server: Awaited<ReturnType<typeof served>>
let data: DataProvider
let auth: AuthProvider
const password = 'correct horse battery staple'
const city = (name: string) => ({ name, population: name.length })

before(async () => {
  server = await served()
})
after(async () => {
  await server.close()
  window.close()
})
beforeEach(async () => {
  const api = await freshClient(server.url)
  // The compiler assigns the providers to react-admin's own types here.
  data = reactAdminData(api, { mounts: { towns: '/cities' } })
  auth = reactAdminAuth(api)
})

/** A component that shows nothing and calls hooks. */
function Probe({ look }: { look: () => void }) {
  look()
  return null
}

/** What `use` returns inside of react-admin, once `isReady` says so. */
function inAdmin<T>(use: () => T, isReady: (value: T) => boolean): Promise<T> {
  const root = createRoot(window.document.createElement('div'))
  return new Promise<T>((resolve, reject) => {
    root.render(
      createElement(
        ra.CoreAdminContext,
        { dataProvider: data, authProvider: auth },
        createElement(ra.CoreAdminUI, { layout: ({ children }) => children, children: [] }),
        createElement(Probe, {
          look: () => {
            const value = use()
            if (isReady(value)) resolve(value)
          },
        }),
      ),
    )
    window.addEventListener('error', ({ error }) => reject(error), { once: true })
  }).finally(() => root.unmount())
}
const isSettled = ({ isPending }: { isPending: boolean }) => !isPending

describe('the data provider', () => {
  it('gives useGetList a page, its order, its conditions and the total', async () => {
    for (const name of ['Ur', 'Oslo', 'Bergen', 'Tromsø', 'Trondheim'])
      await data.create('cities', { data: city(name) })
    const list = await inAdmin(
      () =>
        ra.useGetList('cities', {
          pagination: { page: 2, perPage: 2 },
          sort: { field: 'population', order: 'DESC' },
          filter: { population: { gte: 4 } },
        }),
      isSettled,
    )
    assert.equal(list.error, null)
    assert.deepEqual(list.data?.map(({ name }) => name).length, 2)
    assert.equal(list.data?.[1].name, 'Oslo')
    assert.equal(list.total, 4)
    assert.equal(list.data?.[1].id, list.data?.[1]._id)
    const found = await inAdmin(() => ra.useGetList('towns', { filter: { q: 'berg' } }), isSettled)
    assert.deepEqual(
      found.data?.map(({ name }) => name),
      ['Bergen'],
    )
  })

  it("takes the router's order if nobody chose one, as ListBase asks", async () => {
    for (const name of ['Oslo', 'Bergen']) await data.create('cities', { data: city(name) })
    const list = await inAdmin(
      () => ra.useListController({ resource: 'cities', disableAuthentication: true }),
      isSettled,
    )
    assert.deepEqual(
      list.data?.map(({ name }) => name),
      ['Bergen', 'Oslo'],
    )
    assert.equal(list.total, 2)
  })

  it('gives an export all records, past the most that the router allows in a page', async () => {
    const names = Array.from({ length: 230 }, (_, at) => `city ${String(at).padStart(3, '0')}`)
    for (const name of names) await data.create('cities', { data: city(name) })
    const sort = { field: 'name', order: 'ASC' } as const
    const all = await data.getList('cities', { pagination: { page: 1, perPage: 1000 }, sort })
    assert.deepEqual(
      all.data.map(({ name }) => name),
      names,
    )
    const part = await data.getList('cities', { pagination: { page: 2, perPage: 150 }, sort })
    assert.deepEqual(
      part.data.map(({ name }) => name),
      names.slice(150),
    )
    assert.equal(part.total, 230)
  })

  it('reads records by id, and leaves out those that are gone', async () => {
    const { data: oslo } = await data.create('cities', { data: city('Oslo') })
    const one = await inAdmin(() => ra.useGetOne('cities', { id: oslo.id }), isSettled)
    assert.equal(one.data?.name, 'Oslo')
    const ids = [oslo.id, '6b00335e8b1a4c0c9f2d7e55']
    const many = await inAdmin(() => ra.useGetMany('cities', { ids }), isSettled)
    assert.deepEqual(
      many.data?.map(({ id }) => id),
      [oslo.id],
    )
  })

  it('gives useGetManyReference the records that refer to one', async () => {
    const { data: norway } = await data.create('countries', {
      data: { code: 'NO', name: 'Norway' },
    })
    await data.create('cities', { data: { ...city('Oslo'), country: norway.id } })
    await data.create('cities', { data: city('Ur') })
    const list = await inAdmin(
      () => ra.useGetManyReference('cities', { target: 'country', id: norway.id }),
      isSettled,
    )
    assert.deepEqual(
      list.data?.map(({ name }) => name),
      ['Oslo'],
    )
  })

  it('sends of an edited record what has changed, and null for what was cleared', async () => {
    const { data: oslo } = await data.create('cities', { data: city('Oslo') })
    const client = createClient<TestApp>(server.url)
    await client('/cities').update(oslo.id, { population: 700 })
    const edited = { ...oslo, name: 'Kristiania' }
    const changed = await data.update('cities', { id: oslo.id, data: edited, previousData: oslo })
    assert.deepEqual([changed.data.name, changed.data.population], ['Kristiania', 700])
    const cleared = { ...changed.data, population: null }
    const { data: last } = await data.update('cities', {
      id: oslo.id,
      data: cleared,
      previousData: changed.data,
    })
    assert.equal('population' in last, false)
    const same = await data.update('cities', { id: oslo.id, data: last, previousData: last })
    assert.equal(same.data.name, 'Kristiania')
  })

  it('uploads the file of an ImageInput', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
      'base64',
    )
    const photo = { title: 'dot.png', rawFile: new File([png], 'dot.png', { type: 'image/png' }) }
    const { data: made } = await data.create('cities', { data: { name: 'Oslo', photo } })
    assert.match(made.photo, /\.png/)
  })

  it('writes and deletes several', async () => {
    const made = await Promise.all(
      ['Oslo', 'Ur'].map((name) => data.create('cities', { data: city(name) })),
    )
    const ids = made.map(({ data: { id } }) => id)
    assert.deepEqual(await data.updateMany('cities', { ids, data: { population: 9 } }), {
      data: ids,
    })
    const many = await data.getMany('cities', { ids: ['f'.repeat(24), 'no id', ...ids] })
    assert.deepEqual(
      many.data.map(({ population }) => population),
      [9, 9],
    )
    assert.deepEqual(await data.deleteMany('cities', { ids: [ids[0]] }), { data: [ids[0]] })
    const [, ur] = made
    const gone = await data.delete('cities', { id: ids[1], previousData: ur?.data })
    assert.equal(gone.data.name, 'Ur')
    assert.equal((await data.getList('cities', {})).total, 0)
  })

  it('refuses with the status, and the messages that forms show beside their fields', async () => {
    const refused = await inAdmin(
      () => {
        const [create, state] = ra.useCreate('cities', { data: { name: '' } })
        if (state.isIdle) queueMicrotask(() => create())
        return state
      },
      ({ isError }) => isError,
    )
    const error = refused.error as unknown as { status: number; body: { errors: object } }
    assert.equal(error.status, 400)
    assert.deepEqual(Object.keys(error.body.errors), ['name'])
  })
})

describe('the auth provider', () => {
  const email = () => `${crypto.randomUUID()}@example.com`

  it('signs in and out, and tells who is signed in', async () => {
    const username = email()
    const api = createClient<TestApp>(server.url)
    await api('/auth').register({ email: username, password, name: 'Ann' })
    await assert.rejects(auth.checkAuth({}), { status: 401 })
    await assert.rejects(auth.login({ username, password: 'wrong' }), { status: 401 })
    await auth.login({ username, password })
    const identity = await inAdmin(() => ra.useGetIdentity(), isSettled)
    assert.equal(identity.data?.fullName, 'Ann')
    const permissions = await inAdmin(() => ra.usePermissions(), isSettled)
    assert.equal(permissions.permissions, 'user')
    const state = await inAdmin(() => ra.useAuthState(), isSettled)
    assert.equal(state.authenticated, true)
    await data.create('notes', { data: { text: 'mine' } })
    await auth.logout({})
    await assert.rejects(auth.checkAuth({}), { status: 401 })
  })

  it('a 401 of the data provider signs out, and nothing else does', async () => {
    const refused: unknown = await data.getList('notes', {}).catch((error: unknown) => error)
    await assert.rejects(auth.checkError(refused), { status: 401 })
    const missing: unknown = await data.getOne('cities', { id: 'none' }).catch((error) => error)
    await auth.checkError(missing)
    const unreachable = reactAdminAuth(createClient<TestApp>('http://127.0.0.1:1'))
    await unreachable.checkAuth({})
  })
})
