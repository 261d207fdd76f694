/**
 * One request to one app, and its answer as a text that can be compared byte for byte.
 *
 * @module
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { App, Fields, RecordCollection } from '../../../src/index.ts'
import type { Models } from './build.ts'

/** A request; tokens such as `~id3~` stand for what is known when it is sent. */
export interface Sent {
  /** An HTTP method, or `app.store` for a call of the deployer's code. */
  readonly method: string
  /** A path, or the call's name. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** An answer; `text` holds all of it that a client sees. */
export interface Answer {
  readonly status: number
  readonly text: string
  readonly body: string
  readonly etag: string | null
}

/** How many random bytes and UUIDs an app has drawn: the apps of a world draw the same ones. */
export interface Drawn {
  count: number
}

const drawing = new AsyncLocalStorage<Drawn>()

/** Makes what apps draw at random foreseeable, within `sendTo` alone. Gives back what undoes it. */
export function foreseeable(): () => void {
  const { randomUUID, getRandomValues } = crypto
  const next = (drawn: Drawn) => {
    drawn.count += 1
    return drawn.count
  }
  crypto.randomUUID = () => {
    const drawn = drawing.getStore()
    if (!drawn) return randomUUID.call(crypto)
    return `00000000-0000-4000-8000-${next(drawn).toString(16).padStart(12, '0')}`
  }
  crypto.getRandomValues = (array) => {
    const drawn = drawing.getStore()
    // Eight bytes are an id maker's; the driver draws sixteen for a session, which must stay its own.
    if (!drawn || !(array instanceof Uint8Array) || array.length !== 8)
      return getRandomValues.call(crypto, array) as never
    array.fill(next(drawn) % 256)
    return array
  }
  return () => Object.assign(crypto, { randomUUID, getRandomValues })
}

/** Sends `sent`, the tokens of which have been replaced. */
export function sendTo(app: App, models: Models, sent: Sent, drawn: Drawn): Promise<Answer> {
  return drawing.run(drawn, () =>
    sent.method === 'app.store' ? called(app, models, sent) : asked(app, sent),
  )
}

async function asked(app: App, { method, path, headers, body }: Sent): Promise<Answer> {
  const request = new Request(`http://localhost${path}`, {
    method,
    headers: { ...headers, 'x-request-id': 'same' },
    ...(body !== undefined && { body }),
  })
  const response = await app.handle(request)
  const text = await response.text()
  const shown = [...response.headers].map(([name, value]) => `${name}: ${value}`)
  return {
    status: response.status,
    text: [response.status, ...shown, text].join('\n'),
    body: text,
    etag: response.headers.get('etag'),
  }
}

async function called(app: App, models: Models, { path, body }: Sent): Promise<Answer> {
  const [call = '', of] = path.split(' ')
  const collection = app.store.collection<Fields>(
    (models[of as keyof Models] ?? models.thing) as never,
  )
  try {
    const given = JSON.parse(body ?? '{}')
    const value =
      call === 'atomic'
        ? await atomically(app, models, given)
        : ((await run(collection, call, given)) ?? null)
    const text = JSON.stringify(value)
    return { status: 200, text, body: JSON.stringify({ data: value }), etag: null }
  } catch (error) {
    const { name, status, message, fields } = error as Error & { status?: number; fields?: unknown }
    // A mistake of the caller's is a TypeError or has a status; what else there is, is the store's.
    const known = status !== undefined || error instanceof TypeError
    const text = JSON.stringify({ name, status, message, fields })
    return { status: known ? (status ?? 400) : 500, text, body: text, etag: null }
  }
}

/** All calls in one step, with what each returns. */
function atomically(
  app: App,
  models: Models,
  calls: readonly (readonly [path: string, given: Arguments])[],
): Promise<unknown[]> {
  return app.store.atomic(async (tx) => {
    const results: unknown[] = []
    for (const [path, given] of calls) {
      const [call = '', of] = path.split(' ')
      const collection = tx.collection<Fields>(models[of as keyof Models] as never)
      results.push((await run(collection as never, call, given)) ?? null)
    }
    return results
  })
}

interface Arguments {
  readonly filter: object
  readonly values: Fields
  readonly id: string
  readonly changes: Fields
  readonly options: object
}

function run(collection: RecordCollection<Fields>, call: string, given: Arguments) {
  const { filter, values, id, changes, options } = given
  switch (call) {
    case 'insert':
      return collection.insert((values ?? given) as never)
    case 'insert-as':
      return collection.insert({ ...values, _id: id })
    case 'find':
      return collection.find(filter as never, options as never)
    case 'count':
      return collection.count(filter as never)
    case 'update':
      return collection.update(id, values as never)
    case 'update-where':
      return collection.updateWhere(filter as never, changes as never)
    case 'delete':
      return collection.delete(id)
    default:
      return collection.find({}, { sort: '_id' as never })
  }
}
