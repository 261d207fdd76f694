/** The enforced references of an app: which records a write needs, and which ones depend on a record that goes. */

import { noSuchReferences, tooManyReferences } from '../../http/errors/refusals.ts'
import {
  type EnforcedReference,
  enforcedReferences,
  idsAt,
  type ReferencedId,
} from '../../model/enforced-references.ts'
import type { Model } from '../../model/model.ts'
import { actionUnderAllNames, type Settling } from '../../model/versions/renamed-collection.ts'
import { underCurrentNames } from '../../model/versions/upgrade.ts'
import { type Filter, withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type {
  Change,
  CollectionSchema,
  StepResult,
  Store,
  WriteAction,
  WriteOutcome,
  WriteStep,
} from '../../ports/store/store.ts'
import type { Author } from './author.ts'
import type { Receipt, WrittenIds } from './keyed-writes.ts'
import type { KnownRecords } from './known-updates.ts'
import { besideEmpty, type Exclusive } from './model-rules.ts'

/** The store's `write`, for a write of records of these models. */
export type WriteOfModels = (
  models: readonly string[],
  steps: readonly WriteStep[],
) => Promise<WriteOutcome>

/** Reads and writes the records of one model, as far as references need it. */
export interface Engine extends KnownRecords {
  readonly schema: CollectionSchema
  readonly stored: Settling
  readonly author: Author | undefined
  /** The change of a record that sets values and removes others. */
  changeOf(set: Fields, unset?: readonly string[]): Change
}

export interface IntegrityNeeds {
  known(): Iterable<Model>
  engine(model: Model): Engine
  modelNamed(name: string): Model | undefined
  readonly store: Store
  readonly write: WriteOfModels
}

export type TakeSteps = (steps: readonly EngineStep[]) => Promise<WriteOutcome>

export interface EngineStep {
  readonly engine: Engine
  readonly action: WriteAction
  /** Who does it, if it is not the engine's own author. */
  readonly author?: Author | undefined
}

export interface Dependent {
  readonly engine: Engine
  readonly reference: EnforcedReference
}

/** The most records that one write may refer to; each is checked. */
export const MAX_REFERENCES = 1000

export class Integrity {
  readonly #needs: IntegrityNeeds
  readonly #take: TakeSteps | undefined
  #dependents = new Map<Model, Dependent[]>()
  #models = 0

  /** `take` is asked in place of the store, if it is given. */
  constructor(needs: IntegrityNeeds, take?: TakeSteps) {
    this.#needs = needs
    this.#take = take
  }

  /** The same references between the records of other engines, whose steps `take` takes. */
  over(engine: IntegrityNeeds['engine'], take: TakeSteps): Integrity {
    return new Integrity({ ...this.#needs, engine }, take)
  }

  /** At start-up. Throws a `TypeError` if the store cannot enforce the references that there are. */
  async check(): Promise<void> {
    const { known, engine, store } = this.#needs
    let first: string | undefined
    for (const model of known()) {
      for (const { path, target } of enforcedReferences(model)) {
        engine(this.#model(target))
        first ??= `Model '${model.name}': '${path}' has onDelete, but`
      }
    }
    for (const { name, exclude, changes } of known()) {
      if (exclude) await checkGuards(store, `Model '${name}': 'exclude' can't be kept:`, 'it')
      if (changes) await checkLog(store, `Model '${name}': 'changes' can't be logged:`)
    }
    if (first !== undefined) {
      await checkWrites(store, first, { cannot: 'be enforced', remove: 'onDelete' })
    }
  }

  /** The references to `model`, from all models that the app has mounted or used. */
  to(model: Model): readonly Dependent[] {
    const { known, engine } = this.#needs
    const models = [...known()]
    if (models.length !== this.#models) {
      this.#dependents = Map.groupBy(
        models.flatMap((one) =>
          enforcedReferences(one).map((reference) => ({ engine: engine(one), reference })),
        ),
        ({ reference }) => this.#model(reference.target),
      )
      this.#models = models.length
    }
    return this.#dependents.get(model) ?? []
  }

  /** Takes the steps in one atomic write, with a receipt if there is one. Throws its refusal if it can't be given. */
  async write(
    steps: readonly EngineStep[],
    along?: { readonly receipt: Receipt; readonly ids: WrittenIds },
  ): Promise<WriteOutcome> {
    if (this.#take) return this.#take(steps)
    const writing = steps.filter(({ action }) => !('require' in action || 'guard' in action))
    const models = new Set(writing.map(({ engine }) => engine.model.name))
    for (const { engine, action } of steps) {
      const filter = settledBefore(action)
      if (filter) await engine.stored.settle?.(filter)
    }
    const last = along ? [along.receipt.step(along.ids)] : []
    const outcome = await this.#needs.write([...models], [...steps.map(storedStep), ...last])
    if ('failed' in outcome) {
      if (along && outcome.failed === steps.length) throw along.receipt.refusal()
      return outcome
    }
    const { noted } = outcome
    const authors = steps.flatMap(({ engine, author = engine.author }) => author ?? [])
    if (noted) for (const author of new Set(authors)) author.noted(noted)
    // The one of the receipt is not theirs.
    const results = steps.map((step, at) =>
      underNamesOfNow(outcome.results[at] as StepResult, step),
    )
    return { results }
  }

  /** The ids that `values` refer to, without the record's `own`; undefined for none. Throws a 400 for too many. */
  idsIn(model: Model, values: Fields, own?: unknown): readonly ReferencedId[] | undefined {
    const references = enforcedReferences(model)
    if (references.length === 0) return undefined
    const found = references.flatMap((reference) => {
      const ids = idsAt(values, reference)
      return reference.target === model.name ? ids.filter(({ id }) => id !== own) : ids
    })
    if (found.length > MAX_REFERENCES) throw tooManyReferences(MAX_REFERENCES)
    return found.length > 0 ? found : undefined
  }

  /** Takes `step` while `ids` exist and no `exclusives`; its own outcome. Throws a 400 of ids, or the refusal. */
  async writeChecked(
    ids: readonly ReferencedId[] = [],
    exclusives: readonly Exclusive[],
    step: EngineStep,
  ): Promise<WriteOutcome> {
    const once = [...new Map(ids.map((one) => [`${one.target} ${one.id}`, one])).values()]
    const required = once.map(({ target, id }): EngineStep => {
      const engine = this.#needs.engine(this.#model(target))
      return { engine, action: { require: withId(id), exists: true } }
    })
    const { engine } = step
    const guards = exclusives.map(({ guard }): EngineStep => ({ engine, action: { guard } }))
    const others = exclusives.map((one): EngineStep => {
      return { engine, action: { require: one.others, exists: false } }
    })
    const outcome = await this.write([...guards, ...required, ...others, step])
    if ('results' in outcome) return { results: outcome.results.slice(-1) }
    const failed = outcome.failed - guards.length
    const missing = once[failed]
    const met = exclusives[failed - once.length]
    if (met) {
      const beside = await besideEmpty(engine, met)
      if (!beside) throw met.refusal
      const again = exclusives.map((one) => (one === met ? beside : one))
      return this.writeChecked(ids, again, step)
    }
    if (!missing) return outcome
    throw noSuchReferences(await this.#pathsOfMissing(ids, missing))
  }

  /** The paths of all ids that do not exist, `missing` included, even if it does by now. */
  async #pathsOfMissing(ids: readonly ReferencedId[], missing: ReferencedId): Promise<string[]> {
    const there = new Set<string>()
    for (const [target, some] of Map.groupBy(ids, (one) => one.target)) {
      const found = await this.#needs.engine(this.#model(target)).stored.find({
        filter: { op: 'in', field: '_id', values: some.map(({ id }) => id) },
        sort: [],
        limit: some.length,
        select: { include: ['_id'] },
      })
      for (const { _id } of found) there.add(`${target} ${_id}`)
    }
    there.delete(`${missing.target} ${missing.id}`)
    return ids.filter(({ target, id }) => !there.has(`${target} ${id}`)).map(({ path }) => path)
  }

  #model(name: string): Model {
    const model = this.#needs.modelNamed(name)
    if (!model) throw new TypeError(`no model is named '${name}'`)
    return model
  }
}

/** At start-up: throws a `TypeError` that begins with `what`, if `store` can't write several records in one step. */
export async function checkWrites(
  store: Store,
  what: string,
  { cannot, remove }: { readonly cannot: string; readonly remove: string },
): Promise<void> {
  if (!store.write) {
    throw new TypeError(
      `${what} the store '${store.name}' cannot write several records in one step. Use SQLite, PostgreSQL, D1 or a MongoDB replica set, or remove ${remove}.`,
    )
  }
  try {
    await store.write([])
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new TypeError(`${what} it cannot ${cannot}: ${error.message}`, { cause: error })
  }
}

/** The same for what needs guards too. */
export async function checkGuards(store: Store, what: string, remove: string): Promise<void> {
  await checkWrites(store, what, { cannot: 'be had', remove })
  if (store.guards) return
  throw new TypeError(
    `${what} the store '${store.name}' takes no guards in its writes. Use a version of it that does, or remove ${remove}.`,
  )
}

/** The same for what needs a log of changes. */
async function checkLog(store: Store, what: string): Promise<void> {
  await checkGuards(store, what, "'changes'")
  if (store.changes) return
  throw new TypeError(
    `${what} the store '${store.name}' keeps no log of changes. Use one that does, or remove 'changes'.`,
  )
}

/** Whether `store`, as its database is set up, writes several records in one step. */
export async function writesTogether(store: Store): Promise<boolean> {
  try {
    return (await store.write?.([])) !== undefined
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

/** The step under all names that its fields have had. */
function storedStep({ engine, action, author = engine.author }: EngineStep): WriteStep {
  const by = engine.schema.logged && author ? { by: author.by } : {}
  return { in: engine.schema, ...by, ...actionUnderAllNames(action, engine.model.renamed) }
}

/** Which record must be under the current names before a step: what is expected of it is. */
function settledBefore(action: WriteAction): Filter | undefined {
  if ('update' in action) return action.update
  if ('require' in action) return action.options && action.require
  return 'delete' in action && action.options ? action.delete : undefined
}

function underNamesOfNow(result: StepResult, { engine }: EngineStep): StepResult {
  const { renamed } = engine.model
  if (renamed.size === 0) return result
  return { ...result, records: result.records.map((one) => underCurrentNames(one, renamed)) }
}
