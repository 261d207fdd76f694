/**
 * A store that keeps a list of what it was asked, to see that nothing else happened.
 *
 * @module
 */

import type { Collection, CollectionSchema, Fields, Store } from '../../src/index.ts'

/** One call of a collection's method. */
export interface Call {
  /** The collection and the method: `books.find`. */
  readonly name: string
  readonly argument: Fields
  /** What came beside it. */
  readonly second: Fields | undefined
}

/** A store with its calls; opening and closing are none. */
export interface Watched extends Store {
  readonly calls: Call[]
  /** The calls' names, and from then on a new list. */
  taken(): string[]
}

/** `store`, watched. */
export function watched(store: Store): Watched {
  const calls: Call[] = []
  return {
    name: store.name,
    rawRegex: store.rawRegex,
    calls,
    taken: () => calls.splice(0).map((call) => call.name),
    collection: (schema) => watchedCollection(store.collection(schema), schema, calls),
    prepare: (schemas) => store.prepare(schemas),
    close: () => store.close(),
  }
}

function watchedCollection(
  collection: Collection,
  { name }: CollectionSchema,
  calls: Call[],
): Collection {
  return new Proxy(collection, {
    get(target, method) {
      const own: unknown = Reflect.get(target, method)
      if (typeof own !== 'function') return own
      return (...given: unknown[]) => {
        const [argument, second] = given as Fields[]
        calls.push({ name: `${name}.${String(method)}`, argument: argument ?? {}, second })
        return own.apply(target, given)
      }
    },
  })
}
