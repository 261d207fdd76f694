/**
 * What an app lends to the routers that it mounts.
 *
 * @module
 */

import type { SpaceSettings } from '../../cache/caches.ts'
import type { VersionedCache } from '../../cache/versioned-cache.ts'
import type { BodyLimits } from '../../http/body.ts'
import type { Model } from '../../model/model.ts'
import type { CacheStore } from '../../ports/cache.ts'
import type { FileStore } from '../../ports/files.ts'
import type { Hasher } from '../../ports/hasher.ts'
import type { ImageOptimizer } from '../../ports/images.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Observer } from '../../ports/observer.ts'
import type { Collection, CollectionSchema, Store } from '../../ports/store.ts'
import type { ModelFiles } from '../../uploads/model-files.ts'
import type { FilePlace } from '../../uploads/sweep.ts'
import type { KnownScopes, ScopeOption } from '../rules/scope.ts'
import type { RecordEngine } from './record-engine.ts'
import { type RecordCollection, type RecordStore, recordCollection } from './record-store.ts'
import type { Guard, Route } from './route.ts'

/** What stands behind the ports, and what the app was told of its surroundings. */
export interface Services {
  readonly database: Store
  readonly cache: CacheStore | undefined
  readonly files: FileStore | undefined
  readonly images: ImageOptimizer | undefined
  readonly hasher: Hasher | undefined
  readonly logger: Logger
  /** At least 32 characters, where given; the key of cursors. */
  readonly secret: string | undefined
  readonly env: Readonly<Record<string, unknown>>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** What routers take that do not say otherwise. */
export interface Limits extends BodyLimits {
  readonly maxPopulated: number
  readonly maxResponseBytes: number
}

/** What concerns the whole app, to which routers add. */
export interface Additions {
  /** The guards before every router. */
  readonly guards: Guard[]
  /** What sees every request, the outermost first. */
  readonly observers: Observer[]
  /** The mounts that nothing of their routers guards, until start-up has told of them. */
  readonly open: string[]
  /** Where routers keep files, for the sweeper. */
  readonly filePlaces: FilePlace[]
}

/** The models of an app, and what its routers say of each. */
export interface Models extends KnownScopes {
  /** Those that are mounted or asked for. */
  known(): Iterable<Model>
  /** The engine behind a model's routes; the same one for every router of the model. */
  engine(model: Model): RecordEngine
  /** A collection like that of `model`, under a name of its own; what is written there counts as a write of the model. */
  twin(model: Model, name: string): Collection
  /** The model that a `ref()` names. */
  modelNamed(name: string): Model | undefined
  /** Tells the store that `path` of `model` will be searched. */
  searchable(model: Model, path: string): void
  /** Tells which records of `model` a router shows to all that ask, for populate and search through references. */
  exposed(model: Model, scope: ScopeOption | undefined): void
  /** Says that `fields` of `model` are written with care only: no router may allow them by default. */
  protect(model: Model, fields: readonly string[]): void
  /** The protected fields of `model`; undefined where nobody protects it. Complete when the app is ready. */
  protectedFields(model: Model): ReadonlySet<string> | undefined
  /** The file fields of `model`, of whichever router takes them. Complete when every router is mounted. */
  filesOf(model: Model): ModelFiles
}

/** Start-up, as routers take part in it. */
export interface StartUp {
  /** Runs before the first request, when every model is known; a throw is a start-up error. */
  onReady(check: () => void | Promise<void>): void
  /** Settles when tables and indexes exist for everything that has been declared so far. */
  ready(): Promise<void>
}

/** The app as its routers see it. */
export interface Host extends Services, Limits, Additions, Models, StartUp {
  /** The public front, as `app.store`. */
  readonly store: RecordStore
  /** The same for the code that serves `request`: when its time is over, every call is refused. */
  storeFor(request: Request): RecordStore
  /** A collection of the app's own, beside those of models; start-up makes it exist. */
  collection(schema: CollectionSchema): Collection
  /** Every collection that start-up makes exist. */
  schemas(): readonly CollectionSchema[]
  /** The space in which a router keeps answers; writes of any record clear it. */
  cacheSpace(settings: SpaceSettings): VersionedCache
}

/** The records of `host`, for whoever has a request's context alone: `hostOf` leads back. */
export class HostedRecords implements RecordStore {
  readonly #host: Host
  readonly #ready: () => Promise<void>

  /** `ready` settles when the records may be asked for; it rejects where they may not. */
  constructor(host: Host, ready: () => Promise<void>) {
    this.#host = host
    this.#ready = ready
  }

  collection<R, I = unknown>(model: Model<R, I>): RecordCollection<R, I> {
    const records = this.#host.engine(model as unknown as Model)
    return recordCollection<R, I>(records, this.#ready)
  }

  /** Whose records `store` gives; undefined for one that no app has made. */
  static hostOf(store: RecordStore): Host | undefined {
    return #host in store ? store.#host : undefined
  }
}

/** The app whose records `store` gives. */
export function hostOf(store: RecordStore): Host {
  const host = HostedRecords.hostOf(store)
  if (!host) throw new TypeError("a request's context must be passed on as the app gave it")
  return host
}

/** Anything that `app.mount` takes. */
export interface Mountable {
  /**
   * Whether its routes respond before anything else may refuse a request: start-up, the guards of `app.use`, limits on how
   * many requests are served. Guards of the routes themselves still run. For probes.
   */
  readonly early?: boolean
  /** The route table on `mount`; throws a `TypeError` for options that make no sense. */
  attach(host: Host, mount: string): readonly Route[]
}
