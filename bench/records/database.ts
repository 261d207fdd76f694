/**
 * What a store's data set offers to the bench, and the part of it that fieldgate itself makes.
 *
 * @module
 */

import { benchApp, Product } from '../fieldgate/app.ts'
import { storeAt } from '../fieldgate/store.ts'
import { type Asked, PASSWORD } from './asked.ts'
import { product, productId } from './products.ts'

/** Whose tables: those that fieldgate, PocketBase or bknd made, or those that the other peers share. */
export type Owner = (typeof OWNERS)[number]

/** All of them. */
export const OWNERS = ['fieldgate', 'peers', 'pocketbase', 'bknd'] as const

/** Whether a database server holds tables of that owner: PocketBase and bknd keep files. */
export function isOnServer(owner: Owner): boolean {
  return owner === 'fieldgate' || owner === 'peers'
}

/** The records in one store, once for each owner. */
export interface Database {
  readonly asked: Asked
  /** fieldgate's token of the last page. */
  readonly cursor: string
  /** Whose tables are there. */
  readonly owners: readonly Owner[]
  /** Where a server finds its records. One that writes may get a copy of its own. */
  place(owner: Owner, writes: boolean): string
  /** Takes back what a round wrote. */
  tidy(): Promise<void>
  close(): Promise<void>
}

/** A store that holds data sets of several sizes. */
export interface Databases {
  /** The `size` records for fieldgate, and for the other owners that are wanted and can be had. */
  database(size: number, wanted: readonly Owner[]): Promise<Database>
  stop(): Promise<void>
}

/** Makes fieldgate's indexes and accounts exist at `place`. */
export async function prepareFieldgate(place: string, { emails }: Asked): Promise<void> {
  const app = benchApp(await storeAt(place))
  await app.ready()
  // Together they would have to wait for each other's hashes; on a busy machine that takes longer than the app allows.
  for (const email of emails) await register(app.handle, email)
  await app.close()
}

/** fieldgate's token of the last page: no token depends on the store, so one with two records gives it at once. */
export async function cursorOf({ anchor }: Asked): Promise<string> {
  const app = benchApp(await storeAt(':memory:'))
  const products = app.store.collection(Product)
  const { createdAt: _, updatedAt: __, ...before } = product(anchor.number)
  await products.insert(before)
  await products.insert({ ...before, _id: productId(anchor.number + 1), price: 0 })
  const url = 'http://localhost/feed/products?pageSize=1'
  const response = await app.handle(new Request(url))
  const page = (await response.json()) as { pagination: { nextCursor: string } }
  await app.close()
  return page.pagination.nextCursor
}

async function register(
  handle: (request: Request) => Promise<Response>,
  email: string,
): Promise<void> {
  const response = await handle(
    new Request('http://localhost/auth/register', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email, password: PASSWORD }),
    }),
  )
  // 409: it is there since an earlier run.
  if (!response.ok && response.status !== 409) {
    throw new Error(`no account for ${email}: ${await response.text()}`)
  }
}
