/**
 * `fieldgate/tanstack-db`: collections of TanStack DB over live lists. It imports nothing of TanStack.
 *
 * @module
 */

import {
  type CallsFor,
  type Changes,
  type Choice,
  type Chosen,
  ClientError,
  type Conditions,
  type Created,
  type Failure,
  type LiveOptions,
  type Result,
  type Shown,
} from '../../src/client/index.ts'
import { orderedBy } from '../../src/client/lists/order.ts'
import type { AnyRecords, Having } from '../../src/client/shapes.ts'
import type { Records, Stored, Values } from './records.ts'

/** Options of `fieldgateCollection`. */
export interface FieldgateCollectionOptions<T extends AnyRecords>
  extends Omit<Conditions<T>, 'pageSize' | 'signal'> {
  /** The calls for a mount whose router has `live`: `api('/tasks')`. */
  readonly api: CallsFor<T>
  /**
   * Called when the list cannot be followed. With a status below 300, 408, 429 or 500 and more it is tried again; with others,
   * such as 401 and 403, it has ended, and the collection stays as it is.
   */
  readonly onError?: (error: Failure) => void
  /** TanStack's name of the collection. */
  readonly id?: string
  /** Whether the list is followed at once. Default: when the collection is first read. */
  readonly startSync?: boolean
  /** How long it is followed after the last reader has gone, in milliseconds. Default: five minutes. */
  readonly gcTime?: number
}

/** What `insert` takes, and what `update` hands out to be changed. */
export type CollectionInput<T extends AnyRecords> = Created<T> &
  Changes<T> & {
    /** The key of the record until the server has given it its own. Default: a random one. */
    readonly _id?: string
  }

/** A collection of records `R`, as options for `createCollection`. */
export interface FieldgateCollection<I extends object, R extends object> {
  readonly id?: string
  readonly startSync?: boolean
  readonly gcTime?: number
  readonly getKey: (record: R) => string
  readonly compare?: (a: R, b: R) => number
  readonly schema: {
    readonly '~standard': {
      readonly version: 1
      readonly vendor: 'fieldgate'
      readonly validate: (value: unknown) => { readonly value: R }
      readonly types?: { readonly input: I; readonly output: R }
    }
  }
  readonly sync: {
    readonly rowUpdateMode: 'full'
    readonly sync: (collected: Collected<R>) => () => void
  }
  readonly onInsert: Handler
  readonly onUpdate: Handler
  readonly onDelete: Handler
}

/** What a collection is told by. */
interface Collected<R> {
  begin(): void
  write(
    change:
      | { readonly type: 'insert' | 'update'; readonly value: R }
      | { readonly type: 'delete'; readonly key: string },
  ): void
  commit(): unknown
  markReady(): void
  markError(error: unknown): void
}

type Handler = (given: {
  readonly transaction: { readonly mutations: readonly Mutation[] }
}) => Promise<void>

interface Mutation {
  // biome-ignore lint/suspicious/noExplicitAny: TanStack has keys of any type
  readonly key: any
  // biome-ignore lint/suspicious/noExplicitAny: it has those of any record
  readonly changes: Readonly<Record<string, any>>
}

interface Calls extends Pick<Records, 'create' | 'update' | 'remove'> {
  live(wanted: object, handlers: LiveOptions<Stored>): Promise<void>
}

/** How long a write that was done waits to be seen in the list, in milliseconds: it need not belong there. */
const LONGEST_WAIT_MS = 5000

/**
 * A collection that is what the list is, also over breaks of the connection. Records that you insert, update or delete are
 * shown as written at once; what is refused is taken back, with a `ClientError`. Once the server has written them, and the
 * list has told of it, they are what the server says.
 *
 * ```tsx
 * const tasks = createCollection(fieldgateCollection({ api: api('/tasks'), where: { done: false } }))
 *
 * tasks.insert({ title: 'Water the plants' })
 * tasks.update(id, (task) => {
 *   task.done = true
 * })
 * ```
 */
export function fieldgateCollection<
  T extends AnyRecords,
  const C extends Pick<Choice<T>, 'expand'> = Record<never, never>,
>(
  options: FieldgateCollectionOptions<T> & C & Having<T, 'live', unknown>,
): FieldgateCollection<CollectionInput<T>, Chosen<Shown<T>, C> & object> {
  // What the calls take and give is checked by the types alone.
  return collectionOf(options as never) as never
}

interface Given {
  readonly api: Calls
  readonly sort?: string | readonly string[]
  readonly onError?: (error: Failure) => void
}

function collectionOf({ api, onError, ...given }: Given & Values): object {
  const { id, startSync, gcTime, ...wanted } = given
  const seen = new Seen()
  const sort = [wanted.sort ?? []].flat()
  let order = orderedBy(sort)
  const own = Object.entries({ id, startSync, gcTime }).filter(([, value]) => value !== undefined)
  const inTurn = turnsOfRecords()
  const writing =
    (write: (mutation: Mutation) => Promise<Result<unknown>>): Handler =>
    async ({ transaction: { mutations } }) => {
      const keys = mutations.map(({ key }) => key)
      const last = await inTurn(keys, async () => {
        let position: string | undefined
        for (const mutation of mutations) {
          const written = await write(mutation)
          if (!written.ok) throw new ClientError(written.error)
          position = written.changeId ?? position
        }
        return position
      })
      if (last !== undefined) await seen.until(last)
    }
  return {
    ...Object.fromEntries(own),
    getKey: ({ _id }: Stored) => _id,
    ...(sort.length > 0 && { compare: (a: Stored, b: Stored) => order(a, b) }),
    schema: {
      '~standard': {
        version: 1,
        vendor: 'fieldgate',
        validate: (value: Values) => ({
          // Pages without TLS have no `crypto.randomUUID`.
          value: asShown({ _id: `${Math.random()}`, ...value }),
        }),
      },
    },
    sync: {
      rowUpdateMode: 'full',
      sync: (collected: Collected<Stored>) =>
        follow(api, wanted, collected, seen, onError, (numbers) => {
          order = orderedBy(sort, numbers)
        }),
    },
    onInsert: writing(({ changes: { _id, ...values } }) => api.create(values)),
    onUpdate: writing(({ key, changes }) => api.update(key, withNulls(changes))),
    onDelete: writing(({ key }) => api.remove(key)),
  }
}

/** Makes a collection what the list is, until the function that is returned is called. */
function follow(
  api: Calls,
  wanted: object,
  collected: Collected<Stored>,
  seen: Seen,
  onError: Given['onError'],
  onOrder: (numbers?: readonly string[]) => void,
): () => void {
  const ending = new AbortController()
  let known: ReadonlyMap<string, Stored> | undefined
  let failure: unknown
  seen.tell('')
  const following = api.live(wanted, {
    signal: ending.signal,
    onError(error) {
      failure = new ClientError(error)
      seen.isBroken = true
      onError?.(error)
    },
    onChange(records, position, numbers) {
      if (!known) onOrder(numbers)
      const next = new Map(records.map((record) => [record._id, record]))
      replace(known ?? new Map(), next, collected)
      if (!known) collected.markReady()
      known = next
      seen.tell(position)
    },
  })
  void following
    .catch((error) => {
      failure = error
    })
    .then(() => {
      seen.tell(undefined)
      // What was shown stays usable.
      if (!ending.signal.aborted && !known) collected.markError(failure)
    })
  return () => ending.abort()
}

/** Tells a collection what has changed between two states of the list. */
function replace(
  known: ReadonlyMap<string, Stored>,
  next: ReadonlyMap<string, Stored>,
  { begin, write, commit }: Collected<Stored>,
): void {
  begin()
  for (const [key, value] of next) {
    if (!known.has(key)) write({ type: 'insert', value })
    else if (known.get(key) !== value) write({ type: 'update', value })
  }
  for (const key of known.keys()) if (!next.has(key)) write({ type: 'delete', key })
  commit()
}

/** How far the list has been followed, and who waits for it to be followed further. */
class Seen {
  #position: string | undefined
  /** Whether the connection is broken: it may take long. */
  isBroken = false
  readonly #waiting = new Set<() => void>()

  /** Undefined: nobody follows it any more. */
  tell(position: string | undefined): void {
    this.isBroken = false
    this.#position = position
    for (const check of this.#waiting) check()
  }

  /** Resolves once the list has been followed up to a position, or if that need not be awaited any longer. */
  until(position: string): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearInterval(timer)
        this.#waiting.delete(check)
        resolve()
      }
      const check = () => {
        if (this.#position === undefined || this.#position >= position) end()
      }
      const timer = setInterval(() => this.isBroken || end(), LONGEST_WAIT_MS)
      this.#waiting.add(check)
      check()
    })
  }
}

/** Removed fields as the server is told of them. */
function withNulls(changes: Values): Values {
  return Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value ?? null]))
}

/** A value as the server shows it: dates are strings. */
function asShown(value: unknown): unknown {
  if (value instanceof Date) return value.toJSON()
  if (Array.isArray(value)) return value.map(asShown)
  if (value?.constructor !== Object) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, asShown(one)]))
}

/** Runs writes of the same records one after the other: a server takes two at once in any order. */
function turnsOfRecords(): <T>(keys: readonly unknown[], work: () => Promise<T>) => Promise<T> {
  const turns = new Map<unknown, Promise<unknown>>()
  return async (keys, work) => {
    const mine = Promise.allSettled(keys.map((key) => turns.get(key))).then(work)
    for (const key of keys) turns.set(key, mine)
    try {
      return await mine
    } finally {
      for (const key of keys) if (turns.get(key) === mine) turns.delete(key)
    }
  }
}
