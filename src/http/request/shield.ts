/**
 * Refuses writes to a request that nothing reads, as guards and hooks ported from Express make them. There `req.body`
 * is the parsed body; here it is a stream, which takes any property: `delete request.body.role` would let the role
 * through without a word, and `if (request.body.role) throw …` would never throw.
 */

import type { MaybePromise } from '../../ports/promises/maybe-promise.ts'
import type { Fields } from '../../ports/store/records.ts'
import { bodyTraps } from './body-traps.ts'
import { ofPlatform } from './of-platform.ts'
import type { ApiRequest, Query } from './request.ts'

/** A guard or hook uses its request in a way that has no effect. Nothing may go on as if it had not. */
export class MisusedRequest extends TypeError {}

/** The contexts that guards have used as a response of Express. */
export const misusedContexts: WeakMap<object, MisusedRequest> = new WeakMap()

type Name = 'query' | 'user'

/** What a request's accessors return, and what guards and hooks do to it. */
class Shield {
  /** How many guards and hooks run now. */
  depth = 0
  query: Query
  user: Fields | undefined
  /** What a handler has set as the body. */
  body: unknown
  readonly #request: ApiRequest
  // Copies of what guards and hooks have read: a proxy of it could not be cloned, and a frozen one takes writes silently.
  readonly #read: { query?: unknown; user?: unknown } = {}
  #stream: object | undefined
  #proxy: object | undefined
  #misuse: MisusedRequest | undefined

  constructor(request: ApiRequest, query: Query) {
    this.#request = request
    this.query = query
    this.user = request.user
    this.body = Object.getOwnPropertyDescriptor(request, 'body')?.value
  }

  enter(): void {
    this.depth += 1
    if (this.depth === 1) this.watch()
  }

  /** Keeps in mind how the query and the user are now, if guards or hooks have got hold of them. */
  watch(): void {
    for (const name in this.#read) this.#read[name as Name] = copyOf(this[name as Name])
  }

  /** Notes that a guard or hook has ended. Throws if it has misused the request. */
  leave(): void {
    this.depth -= 1
    this.check()
  }

  /** Throws if a guard or hook has misused the request, even if it has caught the error of a write. */
  check(): void {
    const misuse = this.#misuse
    if (misuse) throw misuse
    for (const given in this.#read) {
      const name = given as Name
      const key = pathOfChange(this.#read[name], this[name])
      if (key !== undefined) this.refuse(name, `${name}.${key}`)
    }
    const own = Object.getOwnPropertyDescriptor(this.#request, 'body')
    if (own && !own.get && own.value !== this.body) this.refuse('body', 'body')
    // Platforms such as Nitro keep something of their own there.
    const header = Object.keys(this.#request.headers).find((name) => !name.startsWith('_'))
    if (header !== undefined) this.refuse('headers', `headers.${header}`)
  }

  /** The query or the user; while the shield is up, what is done to it is noticed. */
  shown(name: Name): Query | Fields | undefined {
    if (this.depth === 0) return this[name]
    // Code without strict mode would not notice that it cannot write to it.
    if (name === 'query' && Object.isFrozen(this.query)) this.query = Object.create(null)
    if (this[name]) this.#read[name] ??= copyOf(this[name])
    return this[name]
  }

  /** Sets the user, which is no misuse. */
  set(user: Fields): void {
    this.user = user
    delete this.#read.user
  }

  /** `stream`, or while the shield is up one like it that refuses what is meant for a parsed body. */
  over<T extends object>(stream: T): T {
    if (this.depth === 0) return stream
    if (this.#stream !== stream) {
      this.#stream = stream
      this.#proxy = new Proxy(stream, bodyTraps(this))
    }
    return this.#proxy as T
  }

  refuse(name: keyof typeof INSTEAD, what: string, reads = false): never {
    const misuse = new MisusedRequest(
      `a guard or hook ${reads ? 'reads' : 'writes to'} request.${what}, but request.${name} ${reads ? READ : INSTEAD[name]}`,
    )
    // What prints an object, as workerd's console, may read anything and catch what is thrown.
    if (!reads) this.#misuse = misuse
    throw misuse
  }
}

/** Where a request keeps its shield, once a guard or hook has got hold of it. */
export const SHIELD: unique symbol = Symbol('shield')

function shieldOf(request: Request & { [SHIELD]?: Shield }): Shield | undefined {
  return request[SHIELD]
}

/**
 * What `code` of yours, a guard or hook, returns. If it writes to `body`, `query`, `user` or `headers` of `request`, this
 * throws a `MisusedRequest` with the line to write instead, whatever else `code` does.
 */
export function runShielded<T, Args extends readonly unknown[]>(
  request: Request,
  code: (...args: Args) => MaybePromise<T>,
  ...args: Args
): MaybePromise<T> {
  const shield = shieldOf(request) ?? withShield(request, (request as ApiRequest).query)
  shield.enter()
  let result: MaybePromise<T>
  try {
    result = code(...args)
  } catch (error) {
    shield.leave()
    throw error
  }
  if (typeof (result as Partial<Promise<T>> | null | undefined)?.then === 'function') {
    // Not every thenable has a `finally`.
    return Promise.resolve(result).finally(() => shield.leave())
  }
  shield.leave()
  return result
}

/** Gives a request that guards or hooks will see its query and its shield; one that has a query grows several times. */
export function withShield(request: Request, query: Query): Shield {
  const shield = new Shield(request as ApiRequest, query)
  Object.assign(request, { [SHIELD]: shield })
  Object.defineProperty(request, 'query', QUERY)
  Object.defineProperty(request, 'user', USER)
  // What has limits has an accessor already. A body of GET is never read.
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
  if (hasBody && !Object.hasOwn(request, 'body')) Object.defineProperty(request, 'body', PLATFORMS)
  return shield
}

/**
 * Lowers the shield of a request that a guard of another app passes on. Returns what raises it again, for when the guard
 * goes on; undefined if the shield is not up. Throws if the guard has misused the request.
 */
export function lowerShield(request: Request): (() => void) | undefined {
  const shield = shieldOf(request)
  if (!shield?.depth) return undefined
  const { depth } = shield
  shield.check()
  shield.depth = 0
  return () => {
    shield.depth = depth
    shield.watch()
  }
}

/** The body that the code which runs now may see. */
export function shieldedBody<T extends object | null>(request: Request, body: T): T {
  const shield = shieldOf(request)
  return shield && body ? shield.over(body) : body
}

/** An assignment to `request.body`, which only handlers may make. */
export function assignBody(this: Request, value: unknown): void {
  const shield = shieldOf(this)
  if (shield?.depth) shield.refuse('body', 'body')
  if (shield) shield.body = value
  define(this, 'body', value)
}

/** Sets what a handler finds as the body: in `request.body`, and by `request.json()`. */
export function setBody(request: ApiRequest, value: unknown): void {
  assignBody.call(request, value)
  define(request, 'json', async () => value)
}

/** Sets `request.user`, which only fieldgate's own guards may. */
export function setUser(request: ApiRequest, user: Fields): void {
  const shield = shieldOf(request)
  if (!shield) {
    request.user = user
    return
  }
  shield.set(user)
  // A guard may have defined it anew.
  Object.defineProperty(request, 'user', USER)
}

/** Sets `request.query`, even if a guard has defined it anew. */
export function setQuery(request: ApiRequest, value: Query): void {
  define(request, 'query', value)
}

/** Sets `request.query` of a shielded request to what was sent. */
export function resetQuery(request: ApiRequest, value: Query): void {
  const shield = shieldOf(request)
  if (shield) shield.query = value
  Object.defineProperty(request, 'query', QUERY)
}

function define(request: Request, name: string, value: unknown): void {
  Object.defineProperty(request, name, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  })
}

const INSTEAD = {
  body: 'is a stream. Write validate: (payload, { req }) => ({ ...payload, owner: req.auth?.userId }), or blockedFields',
  query: 'is what was sent. Write scope: ({ auth }) => ({ owner: auth?.userId })',
  user: 'is set by requireAuth. Write request.auth = { userId, role }',
  headers: 'is a Headers object. Write request.tenant = …',
}
const READ = 'is a stream. Write (await request.clone().json())'

/** A copy of what JSON can have; other objects are themselves. */
function copyOf(value: unknown): unknown {
  if (!isPlain(value)) return value
  const copy: Record<string, unknown> = Array.isArray(value) ? ([...value] as never) : { ...value }
  for (const key in copy) if (typeof copy[key] === 'object') copy[key] = copyOf(copy[key])
  return copy
}

/** The path at which `now` differs from its copy, empty if it is a different value altogether; undefined if it does not. */
function pathOfChange(before: unknown, now: unknown): string | undefined {
  if (Object.is(before, now)) return undefined
  if (!isPlain(before) || !isPlain(now)) return ''
  for (const key in now) {
    const rest = pathOfChange(before[key], now[key])
    if (rest !== undefined) return rest === '' ? key : `${key}.${rest}`
  }
  for (const key in before) if (!(key in now)) return key
  return undefined
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Array.isArray(value)
}

/** One descriptor for all requests: with one per request, V8 would give each its own hidden class. */
function accessor(name: Name): PropertyDescriptor {
  return {
    configurable: true,
    enumerable: true,
    get(this: Request) {
      return (shieldOf(this) as Shield).shown(name)
    },
    set(this: Request, value: never) {
      const shield = shieldOf(this) as Shield
      if (shield.depth > 0) shield.refuse(name, name)
      define(this, name, value)
    },
  }
}

const QUERY = accessor('query')
const USER = accessor('user')

/** The body of a request without limits: one whose body has arrived with a batch. */
const PLATFORMS: PropertyDescriptor = {
  configurable: true,
  get(this: Request) {
    return shieldedBody(this, ofPlatform(this, 'body'))
  },
  set: assignBody,
}
