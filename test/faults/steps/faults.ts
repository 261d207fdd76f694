/**
 * Calls of an app to what is behind its ports, of which one can be made to fail.
 *
 * @module
 */

import type { CollectionSchema, Store } from '../../../src/ports/store/store.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'

/**
 * What becomes of a call: it is `refused` before it acts, it acts and its answer is `lost`, it acts after the time of the
 * request (`late`), it acts and its answer comes after that time (`slow`), the process is `gone` once it has acted, it never
 * ends (`stuck`), or the store is `down` from then on, or once the call has acted (`cut`), until the request has ended.
 */
export const KINDS = ['refused', 'lost', 'late', 'slow', 'gone', 'stuck', 'down', 'cut'] as const
export type Kind = (typeof KINDS)[number]

/** What goes on while the store is down. */
const OTHERS = /^(?:files|cache|keys|mail|sms)\./

const CALLS: ReadonlySet<string> = new Set([
  ...['find', 'findJson', 'count', 'aggregate', 'estimate', 'newId', 'refresh'],
  ...['insert', 'update', 'updateMany', 'delete', 'write'],
  ...['position', 'read', 'history', 'put', 'get', 'set', 'increment', 'signedUrl', 'send'],
])

export class Faults {
  /** The names of the calls since it was armed. */
  calls: string[] = []
  #armed: { readonly kind: Kind | undefined; readonly at: (number: number) => boolean } | undefined
  readonly #held: (() => void)[] = []
  #isGone = false
  #isDown = false
  /** Whether a call never ends. */
  isStuck = false
  #leave = () => {}
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>

  constructor() {
    this.gone = new Promise((resolve) => {
      this.#leave = resolve
    })
  }

  get isArmed(): boolean {
    return this.#armed !== undefined
  }

  get isHeld(): boolean {
    return this.#held.length > 0
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** From now on calls are counted, from 0, and that with the number `at` fails. */
  arm(kind?: Kind, at = -1): void {
    this.calls = []
    this.#armed = { kind, at: (number) => number === at }
  }

  /** From now on the first call with that name fails; with a number after it, one of the next. */
  armAt(call: string, kind: Kind): void {
    const [name, number = '1'] = call.split(' ')
    let left = Number(number)
    this.arm(kind)
    this.#armed = { kind, at: () => this.calls.at(-1) === name && --left === 0 }
  }

  disarm(): void {
    this.#armed = undefined
    this.#isDown = false
  }

  /** Lets go of the call that is held. */
  release(): void {
    for (const go of this.#held.splice(0)) go()
  }

  /** `target`, whose calls may fail. */
  around<T extends object>(name: string, target: T): T {
    const made = new Map<PropertyKey, unknown>()
    return new Proxy(target, {
      get: (_, key) => {
        const value = Reflect.get(target, key, target)
        if (typeof value !== 'function') return value
        const known = made.get(key)
        if (known) return known
        const call = (...args: unknown[]) => Reflect.apply(value, target, args)
        const met = CALLS.has(String(key))
          ? (...args: unknown[]) => this.#meet(`${name}.${String(key)}`, () => call(...args))
          : call
        made.set(key, met)
        return met
      },
    })
  }

  /** A store whose calls may fail; it stays open for others. `seen` is told of its collections. */
  aroundStore(store: Store, seen: (schema: CollectionSchema) => void = () => {}): Store {
    const handles = new Map<CollectionSchema, object>()
    const changes = store.changes && this.around('changes', store.changes)
    const collection = (schema: CollectionSchema) => {
      seen(schema)
      const handle = handles.get(schema) ?? this.around(schema.name, store.collection(schema))
      handles.set(schema, handle)
      return handle
    }
    const own: Readonly<Record<string, unknown>> = { changes, collection, close: async () => {} }
    return new Proxy(this.around('store', store), {
      get: (target, key) => (Object.hasOwn(own, key) ? own[String(key)] : Reflect.get(target, key)),
    })
  }

  #meet(name: string, call: () => unknown): unknown {
    if (this.#isGone) return new Promise(() => {})
    if (!this.#armed) return call()
    const at = this.calls.push(name) - 1
    if (this.#isDown && !OTHERS.test(name)) return Promise.reject(new StoreUnavailable('down'))
    return this.#armed.at(at) ? this.#failing(call) : call()
  }

  async #failing(call: () => unknown): Promise<unknown> {
    const kind = this.#armed?.kind
    if (kind === 'stuck') {
      this.isStuck = true
      return new Promise(() => {})
    }
    this.#isDown = kind === 'down' || kind === 'cut'
    if (kind === 'down') throw new StoreUnavailable('down')
    if (kind === 'refused') throw new StoreUnavailable('refused')
    if (kind === 'late') await this.#wait()
    const result = await Promise.resolve()
      .then(call)
      .catch((error: unknown) => ({ error }))
    if (kind === 'gone') {
      this.#isGone = true
      this.#leave()
      return new Promise(() => {})
    }
    if (kind === 'lost' || kind === 'cut') throw new StoreUnavailable('the answer was lost')
    if (kind === 'slow') await this.#wait()
    const failed = (result as { error?: unknown } | undefined)?.error
    if (failed) throw failed
    return result
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => this.#held.push(resolve))
  }
}
