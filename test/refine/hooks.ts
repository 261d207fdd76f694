/**
 * refine itself over the providers: its hooks, in a page, against an app on 127.0.0.1. The test copies this program to
 * where refine is installed, and runs it there.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { AuthProvider, BaseRecord, DataProvider, HttpError } from '@refinedev/core'
import { JSDOM } from 'jsdom'
import { refineAuth, refineData } from '../../adapters/clients/refine.ts'
import { createClient } from '../../src/client/index.ts'
import { served, type TestApp } from '../../test/client/app.ts'
import { freshClient, makeGlobal } from '../../test/client/fresh.ts'

// refine and React look for these when they are loaded.
const page = new JSDOM('<!doctype html><div id="root"></div>', { url: 'http://127.0.0.1/' })
const { window } = page
makeGlobal(window)
const { createElement } = await import('react')
const { createRoot } = await import('react-dom/client')
const refine = await import('@refinedev/core')

let server: Awaited<ReturnType<typeof served>>
let data: DataProvider
let auth: AuthProvider
const password = 'correct horse battery staple'
const city = (name: string) => ({ name, population: name.length })
const create = (name: string) => data.create({ resource: 'cities', variables: city(name) })
const namesOf = (records: readonly BaseRecord[]) => records.map(({ name }) => name)

before(async () => {
  server = await served()
})
after(async () => {
  await server.close()
  window.close()
})
beforeEach(async () => {
  const api = await freshClient(server.url)
  // The compiler assigns the providers to refine's own types here.
  data = refineData(api, { mounts: { towns: '/cities' }, url: server.url })
  auth = refineAuth(api)
})

/** A component that shows nothing and calls hooks. */
function Probe({ look }: { look: () => void }) {
  look()
  return null
}

/** What `use` returns inside of refine, once `isReady` says so. */
function inRefine<T>(use: () => T, isReady: (value: T) => boolean): Promise<T> {
  const root = createRoot(window.document.createElement('div'))
  return new Promise<T>((resolve, reject) => {
    const look = () => {
      const value = use()
      if (isReady(value)) resolve(value)
    }
    const options = { disableTelemetry: true, reactQuery: { clientConfig: NO_RETRIES } }
    root.render(
      createElement(refine.Refine, {
        dataProvider: data,
        authProvider: auth,
        options,
        children: createElement(Probe, { look }),
      }),
    )
    window.addEventListener('error', ({ error }) => reject(error), { once: true })
  }).finally(() => root.unmount())
}
const NO_RETRIES = { defaultOptions: { queries: { retry: false } } }

describe('the data provider', () => {
  it('gives useList a page, its order, its conditions and the total', async () => {
    for (const name of ['Ur', 'Oslo', 'Bergen', 'Tromsø', 'Trondheim']) await create(name)
    const list = await inRefine(
      () =>
        refine.useList({
          resource: 'cities',
          pagination: { currentPage: 2, pageSize: 2 },
          sorters: [{ field: 'population', order: 'desc' }],
          filters: [
            { field: 'population', operator: 'gte', value: 4 },
            { field: 'population', operator: 'lt', value: 100 },
            { operator: 'and', value: [{ field: 'name', operator: 'ne', value: 'Ur' }] },
          ],
        }),
      ({ query }) => !query.isPending,
    )
    assert.equal(list.query.error, null)
    assert.equal(list.result.total, 4)
    assert.equal(list.result.data[1]?.name, 'Oslo')
    assert.equal(list.result.data[1]?.id, list.result.data[1]?._id)
    const found = await inRefine(
      () =>
        refine.useList({
          resource: 'towns',
          filters: [{ field: 'q', operator: 'contains', value: 'berg' }],
        }),
      ({ query }) => !query.isPending,
    )
    assert.deepEqual(namesOf(found.result.data), ['Bergen'])
  })

  it('gives all records without pages, past the most that the router allows in one', async () => {
    const names = Array.from({ length: 230 }, (_, at) => `city ${String(at).padStart(3, '0')}`)
    for (const name of names) await create(name)
    const all = await data.getList({ resource: 'cities', pagination: { mode: 'off' } })
    assert.deepEqual(namesOf(all.data), names)
    assert.equal(all.total, 230)
  })

  it('reads records by id, and leaves out those that are gone', async () => {
    const { data: oslo } = await create('Oslo')
    const id = oslo.id ?? ''
    const one = await inRefine(
      () => refine.useOne({ resource: 'cities', id }),
      ({ query }) => !query.isPending,
    )
    assert.equal(one.result?.name, 'Oslo')
    const ids = [id, '6b00335e8b1a4c0c9f2d7e55']
    const many = await data.getMany?.({ resource: 'cities', ids })
    assert.deepEqual(
      many?.data.map((record) => record.id),
      [id],
    )
  })

  it('changes, uploads and deletes', async () => {
    const { data: oslo } = await create('Oslo')
    const id = oslo.id ?? ''
    const variables = { name: 'Kristiania' }
    const changed = await data.update({ resource: 'cities', id, variables })
    assert.equal(changed.data.name, 'Kristiania')
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
      'base64',
    )
    const photo = new File([png], 'dot.png', { type: 'image/png' })
    const shown = await data.update({ resource: 'cities', id, variables: { photo } })
    assert.match(shown.data.photo, /\.png/)
    await data.deleteOne({ resource: 'cities', id })
    await assert.rejects(data.getOne({ resource: 'cities', id }), { statusCode: 404 })
    assert.equal(data.getApiUrl(), server.url)
  })

  it('refuses with the status, and the messages that forms show beside their fields', async () => {
    const refused = await inRefine(
      () => {
        const { mutate, mutation } = refine.useCreate<never, HttpError>()
        if (mutation.isIdle) {
          queueMicrotask(() => mutate({ resource: 'cities', values: { name: '' } }))
        }
        return mutation
      },
      ({ isError }) => isError,
    )
    assert.equal(refused.error?.statusCode, 400)
    assert.deepEqual(Object.keys(refused.error?.errors ?? {}), ['name'])
  })

  it('says which filters the server does not have', async () => {
    const filters = [{ field: 'name', operator: 'startswith', value: 'O' }] as const
    await assert.rejects(data.getList({ resource: 'cities', filters: [...filters] }), {
      message: /no filter 'startswith' on 'name'/,
    })
  })
})

describe('the auth provider', () => {
  it('signs in and out, and tells who is signed in', async () => {
    const email = `${crypto.randomUUID()}@example.com`
    const api = createClient<TestApp>(server.url)
    await api('/auth').register({ email, password, name: 'Ann' })
    const before = await inRefine(
      () => refine.useIsAuthenticated(),
      ({ isPending }) => !isPending,
    )
    assert.equal(before.data?.authenticated, false)
    const wrong = await auth.login({ email, password: 'wrong' })
    assert.equal(wrong.success, false)
    const signedIn = await auth.login({ email, password })
    assert.deepEqual(signedIn, { success: true, redirectTo: '/' })
    const identity = await inRefine(
      () => refine.useGetIdentity<{ id: string; name: string }>(),
      ({ isPending }) => !isPending,
    )
    assert.equal(identity.data?.name, 'Ann')
    const permissions = await inRefine(
      () => refine.usePermissions({}),
      ({ isPending }) => !isPending,
    )
    assert.equal(permissions.data, 'user')
    await data.create({ resource: 'notes', variables: { text: 'mine' } })
    assert.deepEqual(await auth.logout({}), { success: true, redirectTo: '/login' })
    assert.equal((await auth.check()).authenticated, false)
    assert.equal(await auth.getIdentity?.(), null)
  })

  it('a 401 of the data provider signs out, and nothing else does', async () => {
    const refused: unknown = await data.getList({ resource: 'notes' }).catch((error) => error)
    assert.equal((await auth.onError(refused)).logout, true)
    const missing: unknown = await data
      .getOne({ resource: 'cities', id: 'none' })
      .catch((error) => error)
    assert.deepEqual(await auth.onError(missing), {})
    const unreachable = refineAuth(createClient<TestApp>('http://127.0.0.1:1'))
    assert.deepEqual(await unreachable.check(), { authenticated: true })
  })
})
