/**
 * The app as its routers see it: models, engines, start-up and shutdown.
 *
 * @module
 */

import { Caches } from '../cache/caches.ts'
import { defaultsOf } from '../cache/options.ts'
import { deadlineOf } from '../http/deadline.ts'
import { idMaker } from '../model/id.ts'
import type { Model } from '../model/model.ts'
import { checkReferences } from '../model/references.ts'
import { lastDefined } from '../model/registry.ts'
import type { CollectionSchema } from '../ports/store.ts'
import { type Host, HostedRecords } from '../records/engine/host.ts'
import { RecordEngine } from '../records/engine/record-engine.ts'
import type { ScopeOption } from '../records/rules/scope.ts'
import { ModelFiles } from '../uploads/model-files.ts'
import { collectionsOf, observersOf } from './observers.ts'
import type { ResolvedAppOptions } from './options.ts'

/** What the app itself needs of its host beyond what routers see. */
export interface AppHost extends Host {
  isReady(): boolean
  ready(): Promise<void>
  close(): Promise<void>
}

interface Served {
  readonly model: Model
  readonly records: RecordEngine
  readonly schema: CollectionSchema
  readonly searchable: Set<string>
  readonly scopes: (ScopeOption | undefined)[]
  guarded: ReadonlySet<string> | undefined
  readonly files: ModelFiles
}

/** The host of one app. */
export function createHost(options: ResolvedAppOptions): AppHost {
  const { store, now, logger, env } = options
  const observers = observersOf(options)
  const collection = collectionsOf(store, observers)
  const caches = new Caches({ logger, now, collection })
  // Its writes concern whoever shares the cache, also where no router of this app reads from it.
  if (options.cache) caches.space({ store: options.cache, ...defaultsOf(env, failed) })
  const served = new Map<Model, Served>()
  const own = new Set<CollectionSchema>()
  const checks: (() => void | Promise<void>)[] = []
  const newId = idMaker(now)
  let starting: Promise<void> | undefined
  // The promise of the start that has succeeded; a model that comes later makes another start necessary.
  let started: Promise<void> | undefined
  let closing: Promise<void> | undefined

  const serve = (model: Model): Served => {
    const known = served.get(model)
    if (known) return known
    for (const other of served.keys()) {
      if (other.name === model.name || other.collection === model.collection) {
        throw new TypeError(`Model '${model.name}': another model has its name or its collection`)
      }
    }
    const searchable = new Set<string>()
    const schema = schemaOf(model, searchable)
    const stored = caches.watched(model.name, collection(schema))
    const records = new RecordEngine(model, stored, { now, newId })
    const entry: Served = {
      model,
      records,
      schema,
      searchable,
      scopes: [],
      guarded: undefined,
      files: new ModelFiles(),
    }
    served.set(model, entry)
    starting = undefined
    return entry
  }

  const start = async (): Promise<void> => {
    for (const check of checks) await check()
    checkReferences(served.keys(), host.modelNamed)
    warnOfOpen(host)
    await store.prepare(host.schemas())
  }

  const ready = (): Promise<void> => {
    if (closing) return Promise.reject(new Error('the app is closed'))
    if (starting) return starting
    const attempt = start().then(
      () => {
        started = attempt
      },
      (error: unknown) => {
        // A store that cannot be reached yet is asked again by the next request.
        if (starting === attempt) starting = undefined
        throw error
      },
    )
    starting = attempt
    return attempt
  }

  const host: AppHost = {
    database: store,
    cache: options.cache,
    files: options.files,
    guards: [],
    observers,
    open: [],
    filePlaces: [],
    images: options.images,
    hasher: options.hasher,
    logger: options.logger,
    secret: options.secret,
    env: options.env,
    maxBodySize: options.maxBodySize,
    bodyTimeoutMs: options.bodyTimeoutMs,
    maxPopulated: options.maxPopulated,
    maxResponseBytes: options.maxResponseBytes,
    now,
    get store() {
      return data
    },
    storeFor(request) {
      const deadline = deadlineOf(request)
      if (!deadline) return data
      return new HostedRecords(host, async () => {
        deadline.check()
        await ready()
      })
    },
    engine: (model) => serve(model).records,
    twin(model, name) {
      const { searchable } = serve(model)
      const schema = schemaOf(model, searchable, `fieldgate_${name}_${model.collection}`)
      own.add(schema)
      return caches.watched(model.name, collection(schema))
    },
    collection(schema) {
      if (!own.has(schema)) starting = undefined
      own.add(schema)
      return collection(schema)
    },
    schemas: () => [
      ...[...served.values()].map((entry) => entry.schema),
      ...own,
      ...caches.schemas(),
    ],
    modelNamed(name) {
      for (const model of served.keys()) if (model.name === name) return model
      return lastDefined(name)
    },
    onReady(check) {
      checks.push(check)
      starting = undefined
    },
    searchable(model, path) {
      const { searchable } = serve(model)
      if (searchable.has(path)) return
      searchable.add(path)
      // During a start the checks of that same start declare; afterwards another start is needed.
      if (started) starting = undefined
    },
    exposed: (model, scope) => void serve(model).scopes.push(scope),
    protect(model, fields) {
      const entry = serve(model)
      entry.guarded = new Set([...(entry.guarded ?? []), ...fields])
    },
    protectedFields: (model) => served.get(model)?.guarded,
    filesOf: (model) => serve(model).files,
    scopesOf: (model) => served.get(model)?.scopes ?? [],
    cacheSpace(settings) {
      starting = undefined
      return caches.space(settings)
    },
    isReady: () => started !== undefined && started === starting,
    ready,
    close() {
      closing ??= (async () => {
        await starting?.catch(() => {})
        await caches.close()
        await options.files?.close?.()
        await store.close()
      })()
      return closing
    },
  }
  const data = new HostedRecords(host, ready)
  return host
}

/** Once for each mount. */
function warnOfOpen({ open, guards, logger }: Host): void {
  const mounts = open.splice(0)
  if (mounts.length === 0 || guards.length > 0) return
  logger.warn(
    `Anybody may create, change and delete records at ${mounts.join(', ')}. Name guards in 'middlewares', or say middlewares: [] where it is meant.`,
  )
}

function failed(message: string): never {
  throw new TypeError(`createApp: ${message}`)
}

/** What a store has to know of a model; what is searched is known when all routers are mounted. */
function schemaOf(
  { collection, idType, shape, declared, unique, indexes }: Model,
  searchable: ReadonlySet<string>,
  name: string = collection,
): CollectionSchema {
  return {
    name,
    idType,
    shape,
    declared,
    unique,
    indexes,
    get searchable() {
      return [...searchable]
    },
  }
}
