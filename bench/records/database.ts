/**
 * What a store's data set offers to the bench, and the part of it that fieldgate itself makes.
 *
 * @module
 */

import { benchApp } from '../fieldgate/app.ts'
import { storeAt } from '../fieldgate/store.ts'
import { type Asked, PAGE_SIZE, PASSWORD } from './asked.ts'

/** Whose tables: those that fieldgate or PocketBase made, or those that the other peers share. */
export type Owner = 'fieldgate' | 'peers' | 'pocketbase'

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

/** Makes fieldgate's indexes and accounts exist at `place`, and resolves to its token of the last page. */
export async function prepareFieldgate(place: string, asked: Asked): Promise<string> {
  // The walk takes large steps; tokens do not know the size of pages.
  const app = benchApp(await storeAt(place), 10_000)
  await app.ready()
  await Promise.all(asked.emails.map((email) => register(app.handle, email)))
  const before = (asked.lastPage - 1) * PAGE_SIZE
  let cursor = ''
  for (let seen = 0; seen < before; ) {
    const size = Math.min(10_000, before - seen)
    const url = `http://localhost/feed/products?pageSize=${size}&cursor=${cursor}`
    const response = await app.handle(new Request(url))
    const page = (await response.json()) as { pagination: { nextCursor: string } }
    cursor = page.pagination.nextCursor
    seen += size
  }
  await app.close()
  return cursor
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
