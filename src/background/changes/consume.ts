import type { App } from '../../app/app.ts'
import type { Managed, Model } from '../../model/model.ts'
import * as rule from '../../model/option-rules.ts'
import { checkOptions, type Fail, failAs, type Rule } from '../../model/option-rules.ts'
import { declaredPart } from '../../model/versions/present.ts'
import type { ChangeKind, LoggedChange } from '../../ports/store/changes.ts'
import type { Fields } from '../../ports/store/records.ts'
import { type Host, hostOf } from '../../records/engine/host.ts'
import type { RecordStore } from '../../records/engine/record-store.ts'
import { addWork } from '../work.ts'
import { Consumer } from './consumer.ts'
import type { ConsumerSettings } from './tries.ts'

/** A change of a record: what a write did to it. */
export interface RecordChange<R = Fields> {
  /** Its position in the log of changes: the `Change-Id` of the response to the write. */
  readonly id: string
  /** When it was written, by the clock of the database. */
  readonly at: Date
  /** The name of the model. */
  readonly model: string
  readonly kind: ChangeKind
  /** The record before the write, with its hidden fields; null if it was created. */
  readonly before: (R & Managed) | null
  /** The record after the write, with its hidden fields; null if it was removed. */
  readonly after: (R & Managed) | null
  /** Who did it: a user's id, `key:<id>` for an API key, null if nobody was signed in. */
  readonly by: string | null
}

/** What `handle` is told of a try. */
export interface ChangeTry {
  /** 1, or more if earlier tries failed. */
  readonly attempt: number
  /** Aborts when the app closes and has waited for some time, or if another process has taken over. */
  readonly signal: AbortSignal
  /** The app's records, as `app.store`. */
  readonly store: RecordStore
}

/** A change of a record of `M`. */
export type ChangeOf<M> = M extends Model<infer R> ? RecordChange<R> : never

/** Options of `consume`, for the models `M`. */
export interface ConsumeOptions<M extends readonly Model[] = readonly Model[]> {
  /** Whose changes: models with `changes`. */
  readonly models: M
  /** What to do with a change. If it throws, it is called again. */
  readonly handle: (change: ChangeOf<M[number]>, given: ChangeTry) => unknown
  /**
   * Where a new consumer begins: with what is written from the first start on, or with the oldest changes that are kept.
   * Default `now`.
   */
  readonly from?: 'now' | 'start'
  /** How often a change is tried until it is set aside. Default 12, which takes two hours. */
  readonly maxAttempts?: number
  /** How many changes, of different records, are handled at the same time. Default 1. */
  readonly concurrency?: number
}

const RULES: Readonly<Record<keyof ConsumeOptions, Rule>> = {
  models: { must: 'be a list of models', test: Array.isArray },
  handle: rule.callable,
  from: rule.oneOf('now', 'start'),
  maxAttempts: rule.natural,
  concurrency: rule.natural,
}

/**
 * Calls `handle` for each change of the records of `models`: at least once, in order for each record, and in one process at
 * a time. If it throws, it is called again after 1 s, then after longer and longer pauses of up to an hour; meanwhile later
 * changes of that record wait, and those of others go on. After `maxAttempts` the change is set aside: `fieldgate changes`
 * lists it, and `--retry` tries it again. `serve` runs consumers, and on Workers the `scheduled` of `worker`. The progress is
 * kept under `name`. Throws a `TypeError` if an option makes no sense.
 *
 * ```ts
 * import { consume } from 'fieldgate/changes'
 * consume(app, 'mailer', {
 *   models: [City],
 *   handle: async ({ kind, after }, { attempt }) => console.log(kind, after?.name, attempt),
 * })
 * ```
 */
export function consume<const M extends readonly Model[]>(
  app: App,
  name: string,
  options: ConsumeOptions<M>,
): void {
  const host = hostOf(app?.store, 'consume(app, …)')
  const fail: Fail = failAs(`consumer '${name}'`)
  checkOptions(options, RULES, fail)
  const { models, handle, from = 'now', maxAttempts = 12, concurrency = 1 } = options
  if (!models || !handle) fail(`'models' and 'handle' are missing`)
  const { store } = host
  const byName = new Map(models.map((one) => [one.name, one]))
  if (byName.size === 0) fail(`'models' is empty`)
  for (const model of byName.values()) {
    if (!model.changes) fail(`'${model.name}' keeps no changes: add 'changes: true' to the model`)
    host.engine(model)
  }
  addConsumer(host, fail, {
    ...{ name, from, concurrency, models: () => [...byName.keys()] },
    isOver: (attempt) => attempt >= maxAttempts,
    async deliver(change, _, given) {
      // Held by a version that has more models: it waits, and is set aside in the end.
      if (!byName.has(change.model)) fail(`'${change.model}' is none of its 'models'`)
      return handle(asReturned(host, change) as unknown as ChangeOf<M[number]>, { ...given, store })
    },
  })
}

/** A change, with records as `app.store` returns them. */
export function asReturned(host: Host, change: LoggedChange): RecordChange {
  const model = host.modelNamed(change.model)
  const part = (record: Fields | null) =>
    (record && model ? declaredPart(model, record) : record) as (Fields & Managed) | null
  return { ...change, before: part(change.before), after: part(change.after) }
}

export function addConsumer(host: Host, fail: Fail, settings: ConsumerSettings): void {
  const log = host.changes ?? fail(`the store '${host.database.name}' keeps no changes`)
  addWork(host, new Consumer(host, log, settings), 'consumer', fail)
}
