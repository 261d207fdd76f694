/** The app as its routers see it: its services and models, start-up and shutdown. */

import { isSecretOfAll } from '#processes'
import { uploads } from '#uploads'
import type { Caches, CachesOptions } from '../cache/caches.ts'
import { deadlineOf } from '../http/deadline.ts'
import { collatedBy } from '../model/collection-schema.ts'
import { type Fail, failAs } from '../model/option-rules.ts'
import { checkReferences } from '../model/shape/reference.ts'
import { idMaker } from '../model/values/cast.ts'
import { withTimeout } from '../ports/promises/with-timeout.ts'
import type { Logger } from '../ports/services/logger.ts'
import type { Collection, CollectionSchema } from '../ports/store/store.ts'
import { startedOnce } from '../ports/values/once.ts'
import { Author, modelChanges } from '../records/engine/author.ts'
import { checkNeeds } from '../records/engine/guards.ts'
import {
  type AppParts,
  type Follower,
  type Host,
  hostedRecords,
  needs,
} from '../records/engine/host.ts'
import { Integrity } from '../records/engine/integrity.ts'
import { OpenStreams } from '../records/engine/open-streams.ts'
import type { Context } from '../records/engine/route.ts'
import { reach } from '../records/list/reach.ts'
import { historySchema, ModelHistory } from '../upkeep/changes/model-history.ts'
import { changeLook } from '../upkeep/changes/start-up.ts'
import { AppContext } from './context.ts'
import { firstResponse } from './guards.ts'
import { type AppModels, appModels } from './models.ts'
import { collectionsOf, observersOf, writeOf } from './observers.ts'
import type { ResolvedAppOptions } from './options.ts'

/** What the app itself needs from its host, beyond what routers see. */
export interface AppHost extends Host {
  readonly start: AppStart
  close(): Promise<void>
}

export function createHost(
  options: ResolvedAppOptions,
  parts: AppParts,
  handle: Host['handle'],
): AppHost {
  const { store: database, now, logger, env, cache, files } = options
  const { images, hasher, secret, basePath, methodOverride, onModelChange = 'warn' } = options
  const { maxBodySize, maxBodyValues, bodyTimeoutMs, maxPopulated, maxResponseBytes } = options
  const observers = observersOf(options)
  const collection = collectionsOf(database, observers)
  const caches = cachesOf(options, parts, collection, () => models)
  const checks: (() => void | Promise<void>)[] = [() => checkNeeds(host)]
  const start = new AppStart(async () => {
    for (const check of checks) await check()
    if (secret !== undefined) await shareSecret(`createApp: 'secret'`, secret)
    checkReferences(models.known(), models.settled)
    await integrity.check()
    warnOfOpen(host)
    await database.prepare(collatedBy(database, host.schemas()), warnOnce)
    await look()
    for (const work of host.background) await work.prepare()
  })
  const { declared, ready } = start
  const write = writeOf(database, observers, caches)
  const own = ownCollections(collection, declared)
  const models = appModels({
    engines: { now, newId: idMaker(now), integrity: () => integrity },
    open: (model, schema) => caches?.watched(model, collection(schema)) ?? collection(schema),
    write,
    declared,
  })
  const integrity = new Integrity({ ...models, store: database, write })
  const warnOnce = warnerOnce(logger)
  // Its calls are not observed, as nothing of start-up is: no request has asked for them.
  const history = new ModelHistory(database.collection(own.added(historySchema)))
  const look = changeLook({ database, models, history, mode: onModelChange, warn: warnOnce, now })
  const streams = new OpenStreams(options.maxStreams)
  let closing: Promise<void> | undefined

  const host: AppHost = {
    ...{ files, parts, database, cache, images, hasher, logger, secret, env, now },
    ...{ maxBodySize, maxBodyValues, bodyTimeoutMs, maxPopulated, maxResponseBytes },
    // Of what takes uploads the port knows only that it is `uploads` of `fieldgate/uploads`.
    uploads: (files?.uploads ?? uploads) as Host['uploads'],
    ...{ basePath, methodOverride, accounts: new Map() },
    ...{ guards: [], early: [], observers, mounted: [], open: [], filePlaces: [], background: [] },
    ...models,
    get store() {
      return store
    },
    storeFor: storesFor(() => host, ready),
    ...{ handle, collection: own.open, integrity, history, shareSecret },
    changes: database.changes && modelChanges(database.changes, models.modelNamed),
    atomic: atomicOf(() => host, parts.atomic),
    reach,
    streams,
    follower: (whole) => followerOf(host, whole),
    schemas: () => [...models.schemas(), ...own.schemas, ...(caches?.schemas() ?? [])],
    cacheSpace(settings) {
      declared('always')
      return (caches as Caches).space(settings)
    },
    onReady(check) {
      checks.push(check)
      declared('always')
    },
    ...{ start, ready },
    close() {
      streams.end()
      closing ??= closeInTurn(host.background, { start, cache: caches, files, store: database })
      return closing
    },
  }
  const store = hostedRecords(host, ready)
  return host
}

function cachesOf(
  { cache, env, logger, now }: ResolvedAppOptions,
  { caching }: AppParts,
  collection: CachesOptions['collection'],
  models: () => AppModels,
): Caches | undefined {
  if (cache && !caching) failed(`'cache' ${needs('caching')}`)
  const nameOf = (model: string) => models().modelNamed(model)?.collection ?? model
  const caches = caching && new caching.Caches({ logger, now, collection, nameOf })
  // Writes concern every app that shares the cache, even if no router of this app reads from it.
  if (cache && caching) caches?.space({ store: cache, ...caching.defaultsOf(env, failed) })
  return caches
}

/** What makes the store of a request: whose deadline ends it, and who sends it. */
function storesFor(hostOf: () => Host, ready: () => Promise<void>): Host['storeFor'] {
  return (request) => {
    const deadline = deadlineOf(request)
    const inTime = async () => {
      deadline?.check()
      await ready()
    }
    return hostedRecords(hostOf(), inTime, { author: new Author(() => request) })
  }
}

/** Asks guards again, and whoever mounts the app who the caller is. */
function followerOf(host: Host, whole: Context): Follower {
  const { env, platform } = whole as AppContext
  return {
    contextOf: (request, limitMs) => new AppContext(host, request, limitMs, env, platform),
    async admit(guards, request, context) {
      await (context as AppContext).takeAuth()
      return firstResponse(guards, request, context)
    },
  }
}

function atomicOf(hostOf: () => Host, load: AppParts['atomic']): Host['atomic'] {
  let atomic: Host['atomic'] | undefined
  return async (...given) => {
    if (!load) throw new TypeError(`app.store.atomic ${needs('atomic')}`)
    const { atomicSteps } = (await load()) as typeof import('../records/overlay/atomic.ts')
    atomic ??= atomicSteps(hostOf())
    return atomic(...given)
  }
}

/** How long each part may take to close, in milliseconds. */
const CLOSE_MS = 30_000

/** Closes every part, whatever becomes of those before it. Rejects with what failed first. */
async function closeInTurn(
  background: Host['background'],
  parts: Readonly<Record<string, { close?(): Promise<void> } | undefined>>,
): Promise<void> {
  // At once where there is none: the app is not ready from the moment that it closes.
  if (background.length > 0) await Promise.all(background.map((work) => work.close()))
  const failures: unknown[] = []
  for (const [name, part] of Object.entries(parts)) {
    const late = () => new Error(`'${name}' has not closed within ${CLOSE_MS} ms`)
    const closing = withTimeout(CLOSE_MS, async () => part?.close?.(), late)
    await closing.catch((error: unknown) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}

/** The collections of the app itself, beside those of models: `added` has start-up create one, `open` opens it too. */
function ownCollections(
  collection: (schema: CollectionSchema) => Collection,
  declared: (when: 'always') => void,
) {
  const schemas = new Set<CollectionSchema>()
  const added = (schema: CollectionSchema) => {
    if (!schemas.has(schema)) declared('always')
    schemas.add(schema)
    return schema
  }
  return { schemas, added, open: (schema: CollectionSchema) => collection(added(schema)) }
}

/** Logs each warning once: start-up runs again for what is declared later. */
function warnerOnce(logger: Logger): (message: string) => void {
  const warned = new Set<string>()
  return (message) => {
    if (!warned.has(message)) logger.warn(message)
    warned.add(message)
  }
}

/** Once per mount. */
function warnOfOpen({ open, guards, logger }: Host): void {
  const mounts = open.splice(0)
  if (mounts.length === 0 || guards.length > 0) return
  logger.warn(
    `Anyone can create, change and delete records at ${mounts.join(', ')}. Add guards in 'middlewares', or pass middlewares: [] if this is intended.`,
  )
}

const failed: Fail = failAs('createApp')

/** Throws a `TypeError` that names `option` if the first process has another secret there. */
async function shareSecret(option: string, secret: string): Promise<void> {
  if (await isSecretOfAll(secret)) return
  throw new TypeError(
    `${option} differs between the processes of serve(app, { processes }). Read it from an environment variable. If the program makes one up, each process has its own.`,
  )
}

class AppStart {
  /** Whether nothing is left to do. */
  isReady = false
  readonly #start: () => Promise<void>
  /** Starts what is declared so far, once. */
  #attempt: () => Promise<void>
  #latest: Promise<void> | undefined
  #hasStarted = false
  #isClosed = false

  constructor(start: () => Promise<void>) {
    this.#start = start
    this.#attempt = this.#next()
  }

  /** Resolves when nothing is left to do; rejects if start-up fails, which is tried again, or the app is closed. */
  readonly ready: Host['ready'] = (during) => {
    if (this.#isClosed) return Promise.reject(new Error('the app is closed'))
    const done = this.#attempt()
    during?.waitUntil(done.catch(() => {}))
    this.#latest = done
    return done
  }

  #next(): () => Promise<void> {
    const attempt = startedOnce(async () => {
      await this.#start()
      this.#hasStarted = true
      this.isReady = this.#attempt === attempt
    })
    return attempt
  }

  /** Declares that there is more to do: always, or only if a start has succeeded already. */
  readonly declared = (when: 'always' | 'started'): void => {
    if (when === 'started' && !this.#hasStarted) return
    this.#attempt = this.#next()
    this.isReady = false
  }

  /** Ends it for good; resolves when a running start has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#latest?.catch(() => {})
  }
}
