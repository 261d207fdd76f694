/**
 * Cloudflare Workers: the `export default` object, and a Durable Object for stores that keep sockets open.
 *
 * @module
 */

import type { App } from '../../src/app/app.ts'
import { runDue } from '../../src/background/run.ts'
import { madeBy } from './makers.ts'

/** Creates the app from the bindings; called once per isolate or object. */
export type MakeApp<Env> = (env: Env) => App

/** The runtime's third argument, after a request and its bindings. */
export interface WorkerContext {
  waitUntil(promise: Promise<unknown>): void
}

/** The `export default` of a Worker. */
export interface WorkerHandler<Env> {
  fetch(request: Request, env: Env, context: WorkerContext): Promise<Response>
  /** Does what is due of the app's jobs, consumers and webhooks. Cloudflare calls it at the times of `triggers.crons`. */
  scheduled(controller: unknown, env: Env, context: WorkerContext): Promise<void>
}

/** The state of a Durable Object, as its class gets it. */
export interface ObjectState extends WorkerContext {
  /** The object's own, with the name by which it was asked for. */
  readonly id?: { readonly name?: string | undefined }
  /** For `durableStore`. */
  readonly storage: ObjectStorage
}

/** The part of an object's storage that `durableStore` uses. */
export interface ObjectStorage {
  readonly sql: {
    exec(
      sql: string,
      ...values: (string | number)[]
    ): { toArray(): readonly Readonly<Record<string, unknown>>[] }
  }
  transactionSync<T>(work: () => T): T
  sync(): Promise<void>
}

/** Creates the app from the bindings and the object's state; called once per object. */
export type MakeObjectApp<Env> = (env: Env, state: ObjectState) => App

/** The part of a Durable Object namespace that is used. */
export interface ObjectNamespace {
  idFromName(name: string): unknown
  get(id: never): { fetch(request: Request): Promise<Response> }
}

/** A Durable Object class that hosts an app. */
export interface AppObjectClass<Env> {
  new (state: ObjectState, env: Env): { fetch(request: Request): Promise<Response> }
  /**
   * The `export default` that spreads requests, in turn, over `instances` objects of the namespace bound as `binding`.
   * Default 4; an app that takes its object's state has one, as each object has its own data.
   */
  worker(options: {
    readonly binding: keyof Env & string
    readonly instances?: number
  }): WorkerHandler<Env>
}

/** Enough for the sockets of one region; each object has its own pool. */
const INSTANCES = 4

/**
 * The `export default` object that responds with the app of `make`.
 *
 * ```ts
 * export default worker((env: Env) => {
 *   const app = createApp({ store: d1Store(env.DB) })
 *   return app.mount('/cities', createRouter({ model: City }))
 * })
 * ```
 */
export function worker<Env>(make: MakeApp<Env>): WorkerHandler<Env> {
  const app = lazily(make)
  const fetch: WorkerHandler<Env>['fetch'] = async (request, env, context) =>
    answer(() => app(env), request, env, context)
  return { fetch: madeBy(fetch, make), scheduled: (_, env) => runDue(app(env)) }
}

/**
 * A Durable Object class that hosts the app of `make`. `durableStore` keeps records in the object's own storage. A store
 * over TCP, such as MongoDB's, needs an object too: on Workers a socket belongs to the request that opened it, and only
 * an object outlives its requests.
 *
 * ```ts
 * export const Api = appObject((env: Env) => createApp({ store: mongoStore({ url: env.MONGODB_URI }) }))
 * export default Api.worker({ binding: 'API', instances: 4 })
 * ```
 */
export function appObject<Env>(make: MakeObjectApp<Env>): AppObjectClass<Env> {
  const ownsData = make.length > 1
  return class AppObject {
    readonly #state: ObjectState
    readonly #env: Env
    readonly #app = lazily((env: Env) =>
      make(env, ownsData ? this.#state : oneOfSeveral(this.#state)),
    )

    constructor(state: ObjectState, env: Env) {
      this.#state = state
      this.#env = env
    }

    async fetch(request: Request & { readonly cf?: Partial<typeof DUE> }): Promise<Response> {
      if (!request.cf?.fieldgateDue) {
        return answer(() => this.#app(this.#env), request, this.#env, this.#state)
      }
      await runDue(this.#app(this.#env))
      return new Response()
    }

    static worker(options: {
      readonly binding: keyof Env & string
      readonly instances?: number
    }): WorkerHandler<Env> {
      const { binding, instances = ownsData ? 1 : INSTANCES } = options
      if (!Number.isSafeInteger(instances) || instances < 1) {
        throw new TypeError(`appObject: 'instances' must be a whole number, at least 1`)
      }
      if (ownsData && instances > 1) {
        throw new TypeError(
          `appObject: an app over its object's own storage has one instance, as each would have records of its own`,
        )
      }
      // Each isolate starts at a random object, so that isolates with a single request do not all use the same one.
      let turn = Math.floor(Math.random() * instances)
      const next = (env: Env) => {
        const objects = env[binding] as ObjectNamespace | undefined
        if (typeof objects?.idFromName !== 'function') {
          throw new TypeError(`no Durable Objects are bound as '${binding}'`)
        }
        turn = (turn + 1) % instances
        return objects.get(objects.idFromName(`app-${turn}`) as never)
      }
      const fetch: WorkerHandler<Env>['fetch'] = async (request, env) => {
        let object: ReturnType<ObjectNamespace['get']>
        try {
          object = next(env)
        } catch (error) {
          return failure(500, error)
        }
        try {
          return await object.fetch(request)
        } catch (error) {
          // Overloaded, reset or out of memory. It is unknown what it has written by then, so nothing is repeated.
          return failure(503, error)
        }
      }
      return {
        fetch: madeBy(fetch, ownsData ? unreachable : (env: Env) => make(env, undefined as never)),
        async scheduled(_, env) {
          const init: RequestInit & { readonly cf: typeof DUE } = { cf: DUE }
          await next(env).fetch(new Request('http://localhost/', init))
        },
      }
    }
  }
}

/** The state for a maker that names none, or only with a default: of several objects, the first alone has the records. */
function oneOfSeveral(state: ObjectState): ObjectState {
  if (!/^app-[1-9]/.test(`${state.id?.name}`)) return state
  return new Proxy(state, {
    get(target, name) {
      if (name === 'storage') {
        throw new TypeError(
          `appObject: an app over its object's own storage has one instance. Name the state without a default, as in (env, { storage }) => …, or write instances: 1`,
        )
      }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** By which `scheduled` asks an object to do what is due. Clients cannot set what the platform tells of a request. */
const DUE = { fieldgateDue: true }

/** For commands, which make apps without an object. */
function unreachable(): never {
  throw new TypeError('the records of this app are in a Durable Object, which commands cannot open')
}

/** Calls `make` at the first use; if it throws, the next use calls it again. */
function lazily<Env>(make: MakeApp<Env>): MakeApp<Env> {
  let app: App | undefined
  return (env) => {
    if (app) return app
    const made = make(env)
    if (typeof (made as Partial<App> | undefined)?.handle !== 'function') {
      throw new TypeError('worker: its function must return an app, and no promise of one')
    }
    app = made
    return app
  }
}

async function answer<Env>(
  app: () => App,
  request: Request,
  env: Env,
  context: WorkerContext,
): Promise<Response> {
  let made: App
  try {
    made = app()
  } catch (error) {
    return failure(500, error)
  }
  const response = made.handle(request, env, {
    waitUntil: (promise: Promise<unknown>) => context.waitUntil(promise),
    // Cloudflare sets it, whatever the client sends.
    clientAddress: request.headers.get('cf-connecting-ip') ?? undefined,
  })
  // Else Cloudflare stops it if the client goes away, even between a write and what follows from it.
  context.waitUntil(response)
  return response
}

const TEXTS = { 500: 'Internal Server Error', 503: 'Service Unavailable' } as const

/** The envelope if there is no app whose error handler could make it. */
function failure(status: keyof typeof TEXTS, error: unknown): Response {
  const requestId = crypto.randomUUID()
  console.error(requestId, error)
  const body = { success: false, error: TEXTS[status], requestId }
  return Response.json(body, { status, headers: { 'X-Request-Id': requestId } })
}
