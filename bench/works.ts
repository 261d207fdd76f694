/**
 * The works that are measured.
 *
 * @module
 */

import type { Requests } from './load.ts'
import { PASSWORD } from './records/asked.ts'
import type { Database } from './records/database.ts'
import { CREATED } from './records/products.ts'
import { DATABASES, get, type Work } from './work.ts'
import { burdened } from './works/burdened.ts'
import { mixtures } from './works/mixtures.ts'
import { searches } from './works/searches.ts'

/** The works over the given records. Those of the parts in `works/` follow the plain ones. */
export function works({ asked, cursor }: Database): Work[] {
  const { ids, categories, lastPage, anchor, emails } = asked
  const after = `${anchor.price}_${anchor._id}`
  const one = ids[500] ?? ''
  const signIn: Requests = {
    method: 'POST',
    paths: ['/auth/login'],
    body: emails.map((identifier) => JSON.stringify({ identifier, password: PASSWORD })),
  }
  const read = get(...ids.map((id) => `/products/${id}`))
  const totals = get(...categories.map((category) => `/products?category=${category}&page=1`))
  const create: Requests = { method: 'POST', paths: ['/products'], body: JSON.stringify(created) }
  const patch: Requests = {
    method: 'PATCH',
    paths: read.paths,
    body: [11.5, 12.5, 13.5].map((price) => JSON.stringify({ price })),
  }
  const stores = [...DATABASES, 'd1'] as const
  return [
    { name: 'read', requests: read, with: ['peers', 'runtimes'], stores },
    {
      name: 'list',
      requests: get(...categories.map((category) => `/products?category=${category}`)),
      with: ['peers'],
      stores,
    },
    { name: 'list-identical', requests: get('/products?category=category-7'), with: [] },
    { name: 'list-totals', requests: totals, with: ['peers'] },
    {
      name: 'offset-page',
      requests: get(`/products?page=${lastPage}&pageSize=50`),
      with: ['peers'],
      seconds: 4,
    },
    { name: 'cursor-first', requests: get('/feed/products?pageSize=50'), with: [] },
    {
      name: 'cursor-page',
      requests: get(`/feed/products?pageSize=50&cursor=${cursor}`),
      ofPeers: get(`/feed/products?pageSize=50&after=${after}`),
      with: ['peers'],
    },
    { name: 'create', requests: create, with: ['peers'], stores, writes: true },
    ...searches(asked),
    ...mixtures(create, read, totals),
    ...burdened(read, asked),
    {
      name: 'first-seconds',
      requests: read,
      with: ['peers', 'runtimes'],
      connections: [16],
      cold: true,
      seconds: 5,
    },
    { name: 'hot', requests: get(`/hot/products/${one}`), with: [] },
    {
      name: 'not-modified',
      requests: get(`/hot/products/${one}`),
      with: [],
      status: 304,
      headers: (base) => entityTag(`${base}/hot/products/${one}`),
    },
    { name: 'constant', requests: get('/products/constant'), with: [] },
    { name: 'sign-in', requests: signIn, with: [], writes: true, seconds: 4, status: 200 },
    {
      name: 'token',
      requests: get('/auth/me'),
      with: [],
      status: 200,
      headers: (base) => bearer(base, signIn),
    },
    // The last: each server changes records of its own, whose answers are compared no more.
    { name: 'patch', requests: patch, with: [], writes: true },
  ]
}

/** The works that were named, all if none was. Throws for a name that is not among `all`. */
export function chosen(all: readonly string[], names: readonly string[]): readonly string[] {
  const unknown = names.filter((name) => !all.includes(name))
  if (unknown.length > 0) throw new Error(`no work is named ${unknown}: ${all.join(', ')}`)
  return names.length === 0 ? all : all.filter((name) => names.includes(name))
}

const created = {
  sku: 'SKU-NEW',
  name: 'pale kettle of today',
  category: CREATED,
  price: 12.5,
  stock: 3,
  active: true,
  description: 'A pale kettle, made by hand, sent within two days and taken back within thirty.',
}

async function entityTag(url: string): Promise<Record<string, string>> {
  const response = await fetch(url)
  await response.text()
  const tag = response.headers.get('ETag')
  return tag === null ? {} : { 'If-None-Match': tag }
}

async function bearer(base: string, { paths, body }: Requests): Promise<Record<string, string>> {
  const response = await fetch(base + paths[0], {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: body?.[0] ?? '',
  })
  const answer = (await response.json()) as { data: { token: string } }
  return { Authorization: `Bearer ${answer.data.token}` }
}
