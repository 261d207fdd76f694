/** Who observes an app's requests and its store calls. Without observers, nothing is wrapped. */

import { asyncContext } from '#contexts'
import type { Caches } from '../cache/caches.ts'
import { idsOf, type Logger } from '../ports/services/logger.ts'
import type { ObservedRequest, Observer } from '../ports/services/observer.ts'
import type { Collection, CollectionSchema, Store } from '../ports/store/store.ts'
import { pathOf } from '../ports/values/paths.ts'
import type { WriteOfModels } from '../records/engine/integrity.ts'
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

/** The response of `respond`, observed by `observers`, of which there is at least one. */
export function observe(
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

type Open = (schema: CollectionSchema) => Collection

/** The collections of `store`, with their calls observed by those `observers` that have a `storeCall`. */
export function collectionsOf(store: Store, observers: readonly Observer[]): Open {
  return observers
    .filter(({ storeCall }) => storeCall)
    .reduceRight<Open>(
      (open, observer) => (schema) => seen(open(schema), observer, store.name, schema.name),
      (schema) => spreadable(store.collection(schema)),
    )
}

const METHODS = [
  ...(['find', 'findJson', 'count', 'aggregate', 'estimate', 'newId'] as const),
  ...(['insert', 'update', 'updateMany', 'delete', 'refresh'] as const),
]

/** A collection as an object of its own methods, of which others are made: a store may have a class of collections. */
function spreadable(collection: Collection): Collection {
  const { seeksRecords, numericIds } = collection
  const methods = METHODS.flatMap((name) => {
    const method: unknown = collection[name]
    return typeof method === 'function' ? [[name, method.bind(collection)] as const] : []
  })
  const about = { ...(seeksRecords && { seeksRecords }), ...(numericIds && { numericIds }) }
  return { ...about, ...Object.fromEntries(methods) } as Collection
}

/** The `write` of `store` for records of the models named first: observed in the same way, and told to `caches`. */
export function writeOf(
  store: Store,
  observers: readonly Observer[],
  caches: Caches | undefined,
): WriteOfModels {
  return async (models, steps) => {
    const collection = [...new Set(steps.map((step) => step.in.name))].join(' ')
    const call = { store: store.name, collection, operation: 'write' }
    const write = async () => {
      if (!store.write) throw new TypeError(`the store '${store.name}' has no 'write'`)
      return store.write(steps)
    }
    const seen = observers.reduceRight<typeof write>(
      (run, observer) => () => observer.storeCall?.(call, run) ?? run(),
      write,
    )
    return caches ? caches.written(models, seen) : seen()
  }
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
        observer.storeCall?.(call, async () => Reflect.apply(member, target, given))
    },
  })
}

function accessLog(logger: Logger): Observer {
  return {
    async request(request, respond) {
      const from = performance.now()
      const response = await respond()
      logger.info('request', {
        ...idsOf(request),
        method: request.method,
        path: pathOf(request.url),
        status: response.status,
        ms: msSince(from),
      })
      return response
    },
  }
}

/** Logs a line for each store call that takes `slowMs` milliseconds or longer, whether or not it fails. */
function slowCalls(logger: Logger, slowMs: number): Observer {
  const current = asyncContext<ObservedRequest>()
  return {
    request: (request, respond) => current.run(request, respond),
    async storeCall(call, run) {
      const from = performance.now()
      try {
        return await run()
      } finally {
        const ms = msSince(from)
        if (ms >= slowMs) {
          const request = current.getStore()
          logger.warn('slow store call', { ...(request && idsOf(request)), ...call, ms })
        }
      }
    },
  }
}

/** Milliseconds since `from`, to a tenth. */
function msSince(from: number): number {
  return Math.round((performance.now() - from) * 10) / 10
}
