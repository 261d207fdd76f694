/**
 * `fieldgate/client`: calls an app over HTTP, checked by the compiler against the app's type. It runs in browsers and on
 * Node, Deno, Bun and Workers.
 *
 * @module
 */

import type { AccountsClient, AnyAccounts } from './accounts/accounts.ts'
import { type AskRoute, type RoutePaths, routeCalls } from './accounts/routes.ts'
import type { Refusal } from './lists/query.ts'
import { later, settled } from './load.ts'
import { recordCalls, type ServedCalls } from './records.ts'
import type { ExtraCalls, InPath } from './sending/calls.ts'
import { type ClientOptions as ConnectionOptions, connect } from './sending/connection.ts'
import { inPath } from './sending/paths.ts'
import { sending } from './sending/sending.ts'
import type { AnyRecords } from './shapes.ts'

export type {
  AccountsClient,
  Ceremonies,
  Routes,
  SessionInfo,
  SignedIn,
  UserOf,
} from './accounts/accounts.ts'
export type {
  KeyInfo,
  KeyRule,
  MethodCalls,
  OidcCeremonies,
  PasskeyCeremonies,
  PasskeyInfo,
} from './accounts/method-calls.ts'
export type { RoutePaths } from './accounts/routes.ts'
export type { Cut, Group, GroupOptions, SortedBy } from './lists/groups.ts'
export type { HistoryOptions, HistoryPage, RecordChange } from './lists/history.ts'
export type {
  Choice,
  ConditionOn,
  Conditions,
  Expandable,
  ListOptions,
  PaginationOf,
  Selectable,
  Where,
} from './lists/lists.ts'
export type { LiveOptions } from './lists/live.ts'
export type { CallsFor, RecordsClient } from './records.ts'
export type { Progress } from './sending/answers.ts'
export type { CallOptions, Condition, CreateOptions, WriteOptions } from './sending/call-options.ts'
export type { CallRoute, ExtraCalls } from './sending/calls.ts'
export type { HeaderFields } from './sending/connection.ts'
export { ClientError, type Failure, type Result, type Success } from './sending/results.ts'
export { memoryStorage, type TokenStorage } from './sending/storage.ts'
export type {
  Added,
  AnyRecords,
  Changes,
  Chosen,
  ClosedCalls,
  Created,
  Populated,
  Shown,
  Wire,
  Written,
} from './shapes.ts'

/** Options of `createClient`. */
export interface ClientOptions extends ConnectionOptions {
  /** Paths of routes that an auth router has renamed, by its mount: the `routes` option of that router. */
  readonly routes?: Readonly<Record<string, RoutePaths>>
}

/** The names of the members that tell of the mounts of an app. */
type Mounts<A> = keyof A & `~${string}`
type PathOf<K> = K extends `~${infer P}` ? P : never

type ServiceOf<T> = T extends AnyRecords
  ? ServedCalls<T>
  : T extends AnyAccounts
    ? AccountsClient<T> & ExtraCalls<T>
    : ExtraCalls<T>

/** The values of `:names` in a path, of which none may be left out. */
type Params<P> = P extends `${string}/:${string}` ? [params: InPath<P>] : [params?: object]

/** One signature for each mount: looking a path up in one type that has them all takes the compiler many times as long. */
type Signatures<A> = {
  [K in Mounts<A>]: (
    signature: (path: PathOf<K>, ...params: Params<PathOf<K>>) => ServiceOf<NonNullable<A[K]>>,
  ) => void
}[Mounts<A>] extends (signatures: infer S) => void
  ? S
  : never

/** Calls an app of the type `A`. */
export type Client<A> = Signatures<A> & {
  /** The calls for a mount. `params` are the values of `:names` in its path. */
  <P extends PathOf<Mounts<A>>>(
    path: P,
    ...params: Params<P>
  ): ServiceOf<NonNullable<A[`~${P}` & keyof A]>>
  /**
   * `fetch` with the access token, for routes that don't send JSON; `path` comes after the client's URL. On a 401 it
   * refreshes once and tries again. It rejects as `fetch` does.
   */
  fetch(path: `/${string}`, init?: RequestInit): Promise<Response>
}

/**
 * A client for the app at `url`, which is what `app.handle` serves at its root.
 *
 * ```ts
 * const app = createApp({ store }).mount('/cities', createRouter({ model: City, query: ['name'] }))
 *
 * const api = createClient<typeof app>('https://api.example.com')
 * const found = await api('/cities').list({ where: { name: 'Oslo' } })
 * if (found.ok) console.log(found.data)
 * else console.error(found.error.message)
 * ```
 */
export function createClient<A extends object>(
  url: string,
  options: ClientOptions = {},
): Client<A> {
  const connection = connect(url, options, later)
  const send = sending(connection.call, later)
  const refusals: Record<string, Refusal> = {}
  function service(mount: string, params: Readonly<Record<string, string>> = {}): object {
    const path = mount.replace(/:(\w+)/g, (_, name) => inPath(params[name]))
    const at = path === '/' ? '' : path
    refusals[mount] ??= { until: 0 }
    const [calls, ask] = routeCalls(at, connection, send, options.routes?.[mount])
    const all = { ...recordCalls(at, send, refusals[mount]), ...calls }
    const known: Record<string, ReturnType<typeof settled>> = {}
    for (const [name, call] of Object.entries(all)) known[name] = settled(call)
    return withMethods(known, ask, url + at)
  }
  // The calls are made from names alone; what each takes and gives is checked by the type.
  return Object.assign(service, { fetch: connection.fetch }) as unknown as Client<A>
}

/** `known`, with the calls of methods and their ceremonies by any other name: they are loaded when one is called. */
function withMethods(known: object, ask: AskRoute, base: string): object {
  return new Proxy(known, {
    get(_, name) {
      // A promise that resolves to the calls looks for 'then', and frameworks for marks such as '__v_raw' and '$$typeof'.
      if (name in known || typeof name === 'symbol' || name < 'a' || name === 'then')
        return (known as Readonly<Record<PropertyKey, unknown>>)[name]
      return withMethods(
        settled(async (...given: unknown[]) => (await later()).callMethod(ask, name, given, base)),
        ask,
        base,
      )
    },
  })
}
