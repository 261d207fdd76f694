import { expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { appWith } from '../../src/app/index.ts'
import { createRouter, defineModel } from '../../src/index.ts'
import type { Collection, Filter, Read, Store } from '../../src/ports/index.ts'

/** A collection as a class has it: what another object spreads of it has no methods. */
class OwnCollection implements Collection {
  readonly #inner: Collection

  constructor(inner: Collection) {
    this.#inner = inner
  }

  find(read: Read) {
    return this.#inner.find(read)
  }

  count(filter: Filter) {
    return this.#inner.count(filter)
  }

  estimate() {
    return this.#inner.estimate()
  }

  insert(record: Parameters<Collection['insert']>[0]) {
    return this.#inner.insert(record)
  }

  update(...given: Parameters<Collection['update']>) {
    return this.#inner.update(...given)
  }

  updateMany(...given: Parameters<Collection['updateMany']>) {
    return this.#inner.updateMany(...given)
  }

  delete(...given: Parameters<Collection['delete']>) {
    return this.#inner.delete(...given)
  }
}

it('a store whose collections are of a class of its own serves logged models in an app of any parts', async () => {
  const sqlite = sqliteStore({ path: ':memory:' })
  const store: Store = {
    ...sqlite,
    collection: (schema) => new OwnCollection(sqlite.collection(schema)),
  }
  const Note = defineModel('OwnStoreNote', { fields: { text: z.string() }, changes: true })
  const app = appWith()({ store, logger: { debug() {}, info() {}, warn() {}, error() {} } })
  app.mount('/notes', createRouter({ model: Note, allowedFields: ['text'], middlewares: [] }))
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ text: 'one' })
  const made = await app.handle(new Request('http://h/notes', { method: 'POST', headers, body }))
  expect(made.status).toBe(201)
  const listed = await app.handle(new Request('http://h/notes'))
  expect(listed.status).toBe(200)
  expect((await listed.json()).data).toMatchObject([{ text: 'one' }])
  await app.close()
})
