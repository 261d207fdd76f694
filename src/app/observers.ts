/**
 * Who observes an app's requests and its store calls. Without observers, nothing is wrapped.
 *
 * @module
 */

import type { ObservedRequest, Observer } from '../ports/observer.ts'
import type { Collection, CollectionSchema, Store } from '../ports/store.ts'
import { accessLog, slowCalls } from './access-log.ts'
import type { ResolvedAppOptions } from './options.ts'

/** The observers that the options ask for, the outermost first. */
export function observersOf(options: ResolvedAppOptions): Observer[] {
  const { telemetry, logger, slowMs } = options
  return [
    ...(telemetry ? [telemetry] : []),
    ...(options.accessLog ? [accessLog(logger)] : []),
    ...(slowMs === undefined ? [] : [slowCalls(logger, slowMs)]),
  ]
}

/** The response of `respond`, observed by `observers`. */
export function observed(
  observers: readonly Observer[],
  request: ObservedRequest,
  respond: () => Promise<Response>,
): Promise<Response> {
  const outermost = observers.reduceRight(
    (inner, observer) => () => observer.request(request, inner),
    respond,
  )
  return outermost()
}

/** Opens a collection of a store. */
type Open = (schema: CollectionSchema) => Collection

/** The collections of `store`, with their calls observed by those `observers` that have a `storeCall`. */
export function collectionsOf(store: Store, observers: readonly Observer[]): Open {
  return observers
    .filter(({ storeCall }) => storeCall)
    .reduceRight<Open>(
      (open, observer) => (schema) => seen(open(schema), observer, store.name, schema.name),
      (schema) => store.collection(schema),
    )
}

function seen(
  target: Collection,
  observer: Observer,
  store: string,
  collection: string,
): Collection {
  return new Proxy(target, {
    get(_, operation) {
      const member: unknown = Reflect.get(target, operation)
      if (typeof member !== 'function') return member
      // `findJson` is another form of the same read.
      const call = { store, collection, operation: String(operation).replace('Json', '') }
      return (...given: unknown[]) =>
        observer.storeCall?.(call, () => Reflect.apply(member, target, given))
    },
  })
}
