/** `createApp`: what an app has. flow.ts has the way of a request. */

import { errorHandler } from '../http/response/error-handler.ts'
import { placeOf } from '../ports/store/shape.ts'
import { pathOf } from '../ports/values/paths.ts'
import type { BackgroundWork } from '../records/engine/background-work.ts'
import { checkOrder, refuseMiddlewares } from '../records/engine/guards.ts'
import type { AppParts, Mountable, MountedRoutes } from '../records/engine/host.ts'
import type { RecordStore } from '../records/engine/record-store.ts'
import { type Guard, patternOf } from '../records/engine/route.ts'
import { type AddRoutes, addingRoutes } from '../records/extra-routes.ts'
import { served } from '../records/setup/described.ts'
import type { AppFiles } from '../uploads/sweep.ts'
import type { Platform } from './context.ts'
import { createHost } from './create-host.ts'
import { type AppGuards, Flow, type Parts } from './flow.ts'
import { servesFile } from './methods.ts'
import { type AppOptions, resolveAppOptions } from './options.ts'
import { atomic, caching, exports, history, live } from './parts.ts'
import { RouteTable, routedPath, warnOfLost } from './route-table.ts'

/** What a mounted router adds to the type of an app: a member that is never set, for typed clients. */
export type Mounted<P extends string, T> = { readonly [Name in `~${P}`]?: T }

/** An app: mounted routers, routes of its own, guards, and one handler for all requests. */
export interface App extends AddRoutes {
  /**
   * Responds to a request. You can pass it to a runtime as it is: it is bound, and it never rejects. `env` is the
   * runtime's environment, `platform` what the runtime knows of the request.
   */
  readonly handle: (request: Request, env?: unknown, platform?: Platform) => Promise<Response>
  /** Reads and writes records from your own code. */
  readonly store: RecordStore
  /** The uploaded files, for `sweepFiles`. */
  readonly files: AppFiles
  /** The jobs, consumers and webhooks, for `serve`, `runBackground` and `runDue`. */
  readonly background: readonly BackgroundWork[]
  /** Runs `guard` before every router, even for requests that match no route. */
  use<Self>(this: Self, guard: Guard): Self
  /**
   * Serves `router` under `path`, which starts with '/'. The app that it returns is this one, whose type knows the
   * router. Throws a `TypeError` naming the option if one makes no sense.
   */
  mount<Self, const P extends string, T>(
    this: Self,
    path: P,
    router: Mountable<T>,
  ): Self & Mounted<P, T>
  /**
   * Whether the app has something at the path of `request`: a route of any method, or a file. For servers that send
   * other requests elsewhere, such as `toExpress`. It does not say that the response is a success. `platform` is what
   * `handle` is told.
   */
  serves(request: Request, platform?: Platform): Promise<boolean>
  /** Resolves when tables and indexes exist; rejects if start-up fails. The first request awaits it too. */
  ready(): Promise<void>
  /**
   * Ends the streams of live lists and opens no more, so that their connections can close. `serve` calls it when it stops;
   * in a server of another kind, call it before you wait for its connections.
   */
  endStreams(): void
  /** Ends live lists, and closes the cache, the file store and the store, each within 30 s. Calling it twice is harmless. */
  close(): Promise<void>
}

/**
 * Creates an app. There is no global state: two apps in one process are independent.
 *
 * ```ts
 * const app = createApp({ store: sqliteStore({ path: 'atlas.db' }) })
 * app.mount('/cities', createRouter({ model: City }))
 * export const handle = app.handle
 * ```
 */
export function createApp(options: AppOptions): App {
  return appOf(options, { ...caching, ...live, ...history, ...exports, ...atomic })
}

/**
 * A `createApp` with these parts of `fieldgate/app` alone, for bundles: an option that needs another one is a start-up
 * error.
 *
 * ```ts
 * const createApp = appWith(live, history)
 * ```
 */
export function appWith(...parts: readonly AppParts[]): typeof createApp {
  const own: AppParts = Object.assign({}, ...parts)
  return (options) => appOf(options, own)
}

function appOf(options: AppOptions, own: AppParts): App {
  const resolved = resolveAppOptions(options)
  const host = createHost(resolved, own, (...given) => handle(...given))
  const { development } = resolved
  // What a model declares a field for is a name of the app's own.
  const isName = (path: string) => [...host.known()].some(({ shape }) => placeOf(shape, path))
  const onError = resolved.onError ?? errorHandler({ development }, isName)
  const guards: AppGuards = { early: host.early, prompt: [], late: [] }
  const [table, early, outside] = [new RouteTable(), new RouteTable(), new RouteTable()]
  const { basePath } = host
  const parts: Parts = { host, guards, table, early, onError }
  const { handle } = new Flow(parts, resolved)

  const added = (mounted: MountedRoutes): never => {
    for (const route of mounted.routes) {
      const place = `${route.method} ${patternOf(mounted.mount, route)}`
      checkOrder(place, [...host.guards, ...route.guards])
    }
    warnOfLost(mounted.early ? early : table, mounted, host.logger)
    host.mounted.push(mounted)
    for (const each of mounted.early ? [table, early] : [table]) each.add(mounted)
    return app as never
  }
  const app: App = {
    handle:
      basePath === ''
        ? handle
        : handleBelow(basePath, handle, new Flow(beside(parts, outside), resolved).handle),
    store: host.store,
    files: { store: host.files, places: host.filePlaces, logger: host.logger },
    background: host.background,
    use(guard) {
      if (typeof guard !== 'function') throw new TypeError('app.use() takes a function')
      refuseMiddlewares('app.use()', [guard])
      if (guard.early) guards.early.push(guard)
      else {
        host.guards.push(guard)
        guards[guard.late ? 'late' : 'prompt'].push(guard)
      }
      return app as never
    },
    // What it adds to the type is nothing that exists.
    mount(path, router) {
      const mount = mountPath(path)
      const routes = checkedRouter(path, router).attach(host, mount)
      const wellKnown = router.wellKnown?.(mount, '')
      if (wellKnown) added({ mount: '', routes: wellKnown, early: true })
      // Who knows of them by a standard alone looks for them at the root of the host.
      if (basePath !== '')
        outside.add({ mount: '', routes: router.wellKnown?.(mount, basePath) ?? [], early: true })
      return added({ mount, routes, early: router.early === true })
    },
    ...addingRoutes((route) =>
      added({ mount: '', routes: [served(route, '', host)], early: false }),
    ),
    async serves(request, platform) {
      const url = urlBelow(basePath, request)
      if (url === undefined) return outside.serves(routedPath(request))
      const whole = (platform?.basePath ?? '') + basePath
      // What the files refuse is there, and for `handle` to refuse.
      const isFile = () => servesFile(host.files, { url }, whole).catch(() => true)
      return table.serves(routedPath({ url })) || isFile()
    },
    ready: () => host.ready(),
    endStreams: () => host.streams.end(),
    close: () => host.close(),
  }
  return app
}

/** What responds to requests that are for no path below the app's own: its guards and limits, no file, and only these routes. */
function beside(parts: Parts, table: RouteTable): Parts {
  const host = Object.create(parts.host, { files: { value: undefined } }) as Parts['host']
  return { ...parts, host, table, early: table }
}

function checkedRouter(path: string, router: Mountable): Mountable {
  const given = (router ?? {}) as unknown as Readonly<Record<string, unknown>>
  if (typeof given.attach === 'function') return router
  throw new TypeError(
    `app.mount('${path}', …) takes a router, e.g. that of createRouter(). ${insteadOf(given)}`,
  )
}

/** What to write instead of mounting `given`. */
function insteadOf({ router, handle, mount, use }: Readonly<Record<string, unknown>>): string {
  if (router !== undefined) return 'This object has one: write auth.router'
  if (typeof mount === 'function') return 'This is an app: mount its routers'
  if (typeof handle === 'function' || typeof use === 'function') {
    return 'This is a router of Express: leave it in your server, server.use(path, router), beside toExpress(app)'
  }
  return 'Is it imported from a module that is still loading?'
}

function mountPath(path: string): string {
  if (typeof path !== 'string' || !/^\/[\w\-./~:]*$/.test(path)) {
    throw new TypeError(
      `app.mount(): the path must start with '/' and have only letters, digits and '/:-._~', e.g. '/cities' (got '${path}')`,
    )
  }
  return path.replace(/(^|[^/])\/+$/, '$1')
}

type Handle = App['handle']

/**
 * The URL that a request has for an app below `basePath`, as if another server had mounted it there. Undefined if it is
 * elsewhere. What decides is the path that is routed: `/api/../cities` is not below `/api`.
 */
function urlBelow(basePath: string, request: Request): string | undefined {
  const { url } = request
  if (basePath === '') return url
  const path = routedPath(request)
  if (path !== basePath && !path.startsWith(`${basePath}/`)) return undefined
  const query = url.indexOf('?')
  const origin = url.startsWith('/')
    ? ''
    : url.slice(0, url.indexOf(pathOf(url), url.indexOf('://') + 3))
  return `${origin}${path.slice(basePath.length) || '/'}${query === -1 ? '' : url.slice(query)}`
}

/**
 * Hands requests below `basePath` to `inside`, with the URL that they have there, and all others to `outside`. The URL is
 * what it was once the response is there: a server in front may read it.
 */
function handleBelow(basePath: string, inside: Handle, outside: Handle): Handle {
  return async (request, env, platform) => {
    const url = urlBelow(basePath, request)
    if (url === undefined) return outside(request, env, platform)
    const own = Object.getOwnPropertyDescriptor(request, 'url')
    Object.defineProperty(request, 'url', { value: url, configurable: true })
    try {
      return await inside(request, env, platform)
    } finally {
      if (own) Object.defineProperty(request, 'url', own)
      else Reflect.deleteProperty(request, 'url')
    }
  }
}
