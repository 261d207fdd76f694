/** What an app provides for the routers that it mounts. */

import type { CacheCode, SpaceSettings } from '../../cache/caches.ts'
import type { VersionedCache } from '../../cache/versioned-cache.ts'
import type { BodyLimits } from '../../http/body/body.ts'
import type { Deadline } from '../../http/deadline.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import type { Model } from '../../model/model.ts'
import type { CacheStore } from '../../ports/services/cache.ts'
import type { FileStore } from '../../ports/services/files.ts'
import type { Hasher } from '../../ports/services/hasher.ts'
import type { ImageOptimizer } from '../../ports/services/images.ts'
import type { Logger } from '../../ports/services/logger.ts'
import type { Observer } from '../../ports/services/observer.ts'
import type { ChangeLog } from '../../ports/store/changes.ts'
import type { Collection, CollectionSchema, Store } from '../../ports/store/store.ts'
import { madeOnce } from '../../ports/values/once.ts'
import type { ModelHistory } from '../../upkeep/changes/model-history.ts'
import type { FilePlace } from '../../uploads/sweep.ts'
import type { UploadCode } from '../../uploads/taking.ts'
import type { Author } from './author.ts'
import type { BackgroundWork } from './background-work.ts'
import type { Origin, Reach } from './find-options.ts'
import type { Integrity } from './integrity.ts'
import type { Models } from './models.ts'
import type { OpenStreams } from './open-streams.ts'
import { type Collections, type RecordStore, recordCollection } from './record-store.ts'
import type { Context, Guard, Route } from './route.ts'

/**
 * Parts that an app may do without, for `appWith`: those that it does not name are not in its bundle. The functions load
 * their part when it is first used, by code that knows its exports.
 */
export interface AppParts {
  /** Kept responses. */
  readonly caching?: CacheCode
  /** Live lists. */
  readonly live?: () => Promise<unknown>
  /** The histories of records. */
  readonly history?: () => Promise<unknown>
  /** Lists as files. */
  readonly exports?: () => Promise<unknown>
  /** `app.store.atomic`. */
  readonly atomic?: () => Promise<unknown>
}

/** What to do about a part that is not there. */
export function needs(part: keyof AppParts): string {
  return `needs its code in this bundle. Write appWith(${part}), both of fieldgate/app`
}

export interface Services {
  /** What the app has of what only some apps need. */
  readonly parts: AppParts
  readonly database: Store
  readonly cache: CacheStore | undefined
  readonly files: FileStore | undefined
  /** Loads what takes uploads. Undefined in a bundle for Workers or browsers whose file store does not bring it. */
  readonly uploads: (() => Promise<UploadCode>) | undefined
  readonly images: ImageOptimizer | undefined
  readonly hasher: Hasher | undefined
  readonly logger: Logger
  /** The key of cursors; at least 32 characters, if given. */
  readonly secret: string | undefined
  readonly env: Readonly<Record<string, unknown>>
  /** The path that the app serves everything below; empty if there is none. */
  readonly basePath: string
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Limits and the like for routers that do not set their own. */
export interface Limits extends BodyLimits {
  readonly maxPopulated: number
  readonly maxResponseBytes: number
  readonly methodOverride: boolean
}

export interface MountedRoutes {
  readonly mount: string
  readonly routes: readonly Route[]
  /** Whether the app's own guards do not run for them. */
  readonly early: boolean
}

/** Parts of the app that routers add to. */
export interface Additions {
  /** The guards that run before every router. */
  readonly guards: Guard[]
  /** Those that run before anything else. */
  readonly early: Guard[]
  /** What observes every request, the outermost first. */
  readonly observers: Observer[]
  /** What is mounted, in order, for descriptions of the app. */
  readonly mounted: MountedRoutes[]
  /** The mounts where anyone can write, until start-up has warned of them. */
  readonly open: string[]
  /** The guard that signs the users of a model in, of models that are accounts. */
  readonly accounts: Map<Model, Guard>
  /** Where routers keep files, for the sweeper. */
  readonly filePlaces: FilePlace[]
  /** What is done beside requests: jobs, consumers, webhooks. */
  readonly background: BackgroundWork[]
}

/** Start-up, as far as routers take part in it. */
export interface StartUp {
  /** Runs `check` before the first request, when every model is known; if it throws, start-up fails. */
  onReady(check: () => void | Promise<void>): void
  /** Rejects, naming the option, if another process of the server has other secrets than this one. */
  shareSecret(option: string, secret: string): Promise<void>
  /**
   * Settles when tables and indexes exist for everything declared so far. `during` is the request that waits for it: on
   * Workers, it would end with that.
   */
  ready(during?: Pick<Context, 'waitUntil'>): Promise<void>
}

/** The app as its routers see it. */
export interface Host extends Services, Limits, Additions, Models, StartUp {
  /** The public `app.store`. */
  readonly store: RecordStore
  /** The same for code that serves `request`: when its time is over, every call is refused. */
  storeFor(request: ApiRequest): RecordStore
  /** Responds to a request of its own as the app does to any other, on behalf of the one whose `context` it is. */
  handle(request: Request, env: unknown, context: Context): Promise<Response>
  /** A collection for the app itself, beside those of models; start-up creates it. */
  collection(schema: CollectionSchema): Collection
  /** What searches and expansions of `app.store` take. */
  readonly reach: Reach
  /** `app.store.atomic`; `ready` rejects if the records may not be used any more. */
  atomic<T>(
    work: (tx: Collections) => T | Promise<T>,
    ready: () => Promise<void>,
    author?: Author,
  ): Promise<T>
  /** The enforced references, and the write of several records as one. */
  readonly integrity: Integrity
  /** The log of changes, with records as `app.store` returns them; undefined if the store keeps none. */
  readonly changes: ChangeLog | undefined
  /** The live lists that are open in this process. */
  readonly streams: OpenStreams
  /** The client of the request whose context is `whole`, without the request: it may be there for long. */
  follower(whole: Context): Follower
  /** What is known of the models that wrote the records. */
  readonly history: ModelHistory
  /** Every collection that start-up creates. */
  schemas(): readonly CollectionSchema[]
  /** The space in which a router keeps responses; writes of any record clear it. */
  cacheSpace(settings: SpaceSettings): VersionedCache
}

/** A client that follows something, for as long as it does. */
export interface Follower {
  /** The context of `request`, which is made for the client, with a time limit of its own. */
  contextOf(request: ApiRequest, limitMs: number): TimedContext
  /** What the first of `guards` responds that does. */
  admit(guards: readonly Guard[], request: ApiRequest, context: Context): Promise<unknown>
}

export type TimedContext = Context & Pick<Deadline, 'start' | 'within' | 'conclude' | 'expire'>

const HOST: unique symbol = Symbol('host')

/**
 * The records of `host`. `ready` rejects if they may not be used. `engine` finds those of a model, and `author` is who writes
 * them. Code that only has a request's context gets back to the host with `hostOf`.
 */
export function hostedRecords(
  host: Host,
  ready: () => Promise<void>,
  { engine = host.engine, author }: { engine?: Host['engine']; author?: Author } = {},
): RecordStore {
  const own: Host['engine'] = author ? (model) => engine(model).as(author) : engine
  const store: RecordStore = {
    collection<R, I>(model: Model<R, I>) {
      const origin: Origin = own === host.engine ? host : { ...host, engine: own }
      return recordCollection<R, I>(origin, model as unknown as Model, ready)
    },
    atomic: (work) => host.atomic(work, ready, author),
  }
  // Whoever prints a context would print the secrets of the app with it.
  return Object.defineProperty(store, HOST, { value: host })
}

/** The app that `store` belongs to; `call` is the public function that takes the app, if one does. */
export function hostOf(store: RecordStore | undefined, call?: string): Host {
  const { [HOST]: host } = Object(store) as { readonly [HOST]?: Host }
  if (host) return host
  throw new TypeError(
    call === undefined
      ? "a request's context must be passed on as the app gave it"
      : `${call} takes an app that createApp() returned`,
  )
}

/** What `app.mount` takes, e.g. a router; `T` tells the typed client what it serves. */
export interface Mountable<T = unknown> {
  /** Carries the type of what is served; never set. */
  readonly '~serves'?: T
  /**
   * If true, its routes respond before anything else may refuse a request: start-up, the guards of `app.use`, the limit
   * on concurrent requests. Guards of the routes themselves still run. For probes.
   */
  readonly early?: boolean
  /** The routes on `mount`. Throws a `TypeError` for invalid options. */
  attach(host: Host, mount: string): readonly Route[]
  /**
   * Routes by whole paths, wherever it is mounted, which respond as early ones do: for well-known addresses. `before` is what
   * such a path has before the mount, for those at the root of a host below which the app is at a path.
   */
  wellKnown?(mount: string, before: string): readonly Route[]
}

/** Returns a function that makes a value on the first request of each app, and returns it from then on. */
export function perApp<T>(make: (host: Host) => T): (context: Context) => T {
  const madeFor = madeOnce(make)
  return ({ store }) => madeFor(hostOf(store))
}
