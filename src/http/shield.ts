/**
 * Refuses writes to a request that nothing reads, as guards and hooks ported from Express make them. There `req.body`
 * is the parsed body; here it is a stream, which takes any property: `delete request.body.role` would let the role
 * through without a word.
 *
 * The shield is up while guards and hooks run. A request without either pays nothing.
 *
 * @module
 */

import type { Fields } from '../ports/store.ts'
import { Note } from './note.ts'
import type { Query } from './query-string.ts'
import type { ApiRequest } from './request.ts'

/** What a request's accessors return, while they are there. */
class Shield {
  isUp = true
  /** Whether guards or hooks have seen that there is no body. */
  hasShownNone = false
  query: Query
  user: Fields | undefined
  // Created on first use: most guards read neither.
  #proxies: Map<object, object> | undefined

  constructor({ query, user }: ApiRequest) {
    this.query = query
    this.user = user
  }

  /** `value`, or while the shield is up one like it whose members cannot be written. */
  over<T extends object>(name: Name, value: T): T {
    if (!this.isUp) return value
    this.#proxies ??= new Map()
    const known = this.#proxies.get(value) ?? new Proxy(value, HANDLERS[name])
    this.#proxies.set(value, known)
    return known as T
  }
}

const shields = new Note<Shield>('shield')

type Name = 'body' | 'query' | 'user'

/** Makes writes to `body`, `query` and `user` of `request` throw, with the line to write instead: its next code is yours. */
export function raiseShield(request: Request): void {
  const known = shields.of(request)
  if (known) {
    known.isUp = true
    return
  }
  shields.set(request, new Shield(request as ApiRequest))
  Object.defineProperty(request, 'query', QUERY)
  Object.defineProperty(request, 'user', USER)
  // What has limits has an accessor already.
  if (!Object.hasOwn(request, 'body')) Object.defineProperty(request, 'body', PLATFORMS)
}

/** Allows writes again: a handler may do with its request what it likes. */
export function lowerShield(request: Request): void {
  const shield = shields.of(request)
  if (shield) shield.isUp = false
}

/** The body that the code which runs now may see. */
export function shieldedBody<T extends object | null>(request: Request, body: T): T {
  const shield = shields.of(request)
  if (!shield) return body
  if (body) return shield.over('body', body)
  if (shield.isUp) shield.hasShownNone = true
  return body
}

/**
 * What to report of `error`, which guards or hooks of `request` have thrown: an error with the line to write instead, if
 * it comes of a write to a body that is null. Nothing can stand in for null, which guards may test for and pass on, so
 * this write fails by itself, with the words of the runtime.
 */
export function explained(request: Request, error: unknown): unknown {
  const shield = shields.of(request)
  if (!shield?.isUp || !shield.hasShownNone || !(error instanceof TypeError)) return error
  if (!WRITES_TO_NULL.test(error.message)) return error
  const [key] = WRITTEN.exec(error.message) ?? []
  return refusal('body', key === undefined ? 'body' : `body.${key}`, error)
}

/** How V8 and JavaScriptCore say that a member of null was set, deleted, assigned or defined. */
const WRITES_TO_NULL =
  /^Cannot set propert|^Cannot convert undefined or null|non-object$|^null is not an object \(evaluating '(?:delete |[^=]*[^=!<>]=[^=>])|^Object\.assign requires|^Properties can only be defined/

/** The name of the member, where they say it. */
const WRITTEN = /(?<=\(setting ')[^']*(?=')|(?<=\bbody\.)\w+/

/** Throws for an assignment to `request.body`. */
export function refuseBody(): never {
  throw refusal('body', 'body')
}

/** Sets `request.user`, which only fieldgate's own guards may. */
export function setUser(request: ApiRequest, user: Fields): void {
  const shield = shields.of(request)
  if (!shield) {
    request.user = user
    return
  }
  shield.user = user
  // A guard may have defined it anew.
  Object.defineProperty(request, 'user', USER)
}

/** Sets `request.query`, even if a guard has defined it anew. */
export function setQuery(request: ApiRequest, value: Query): void {
  Object.defineProperty(request, 'query', {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  })
}

const INSTEAD: Readonly<Record<Name, string>> = {
  body: 'is a stream. Write validate: (payload, { req }) => ({ ...payload, owner: req.auth?.userId }), or blockedFields',
  query: 'is what was sent. Write scope: ({ auth }) => ({ owner: auth?.userId })',
  user: 'is set by requireAuth. Write request.auth = { userId, role }',
}

function refusal(name: Name, what: string, cause?: TypeError): TypeError {
  return new TypeError(
    `a guard or hook writes to request.${what}, but request.${name} ${INSTEAD[name]}`,
    cause && { cause },
  )
}

function handlerOf(name: Name): ProxyHandler<object> {
  const refuse = (key: string) => {
    throw refusal(name, `${name}.${key}`)
  }
  return {
    // Symbols are the runtime's own: Deno keeps the state of a stream under them.
    set: (target, key, value) =>
      typeof key === 'symbol' ? Reflect.set(target, key, value) : refuse(key),
    deleteProperty: (target, key) =>
      typeof key === 'symbol' ? Reflect.deleteProperty(target, key) : refuse(key),
  }
}

const HANDLERS: Readonly<Record<Name, ProxyHandler<object>>> = {
  body: {
    ...handlerOf('body'),
    // Methods of a stream work on the stream alone.
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  },
  query: handlerOf('query'),
  user: handlerOf('user'),
}

/** One descriptor for all requests: with one per request, V8 would give each its own hidden class. */
function accessor(name: 'query' | 'user'): PropertyDescriptor {
  return {
    configurable: true,
    enumerable: true,
    get(this: Request) {
      const shield = shields.of(this) as Shield
      const value = shield[name]
      return value && shield.over(name, value)
    },
    set(this: Request, value: never) {
      const shield = shields.of(this) as Shield
      if (shield.isUp) throw refusal(name, name)
      shield[name] = value
    },
  }
}

const QUERY = accessor('query')
const USER = accessor('user')

/** The body of a request without limits: one whose body has arrived with a batch. */
const PLATFORMS: PropertyDescriptor = {
  configurable: true,
  get(this: Request) {
    const body = Reflect.get(Object.getPrototypeOf(this), 'body', this) as object | null
    return shieldedBody(this, body)
  },
  set: refuseBody,
}
