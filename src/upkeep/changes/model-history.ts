/**
 * The models as they were when their records were written, kept beside the records: one read at start-up tells which
 * have changed.
 *
 * @module
 */

import { changedFields, type Fingerprint, fingerprintOf } from '../../model/fingerprint.ts'
import { idOf } from '../../model/id.ts'
import type { Model } from '../../model/model.ts'
import { everything, type Filter, withId } from '../../ports/filter.ts'
import { type Collection, type CollectionSchema, DuplicateKey } from '../../ports/store.ts'

/** The collection of the known models. */
export const historySchema: CollectionSchema = {
  name: 'fieldgate_models',
  idType: 'objectId',
  shape: {
    kind: 'object',
    fields: new Map([
      ['_id', { kind: 'id', idType: 'objectId' }],
      ['model', { kind: 'string' }],
      ['fields', { kind: 'string' }],
      ['progress', { kind: 'string' }],
    ]),
  },
  unique: [],
  indexes: [],
  searchable: [],
}

/** A model that is not as it was when its records were written. */
export interface ChangedModel {
  readonly model: Model
  /** The fields that differ. */
  readonly fields: readonly string[]
}

type Values = Readonly<Record<string, string>>

/** More than the number of models in any app. */
const MAX_MODELS = 10_000

/** What is known of the models that wrote the records. */
export class ModelHistory {
  readonly #collection: Collection

  /** `collection` has the schema `historySchema`. */
  constructor(collection: Collection) {
    this.#collection = collection
  }

  /**
   * Those of `models` that have changed so that records may not fit. The others are known from now on; so is a changed
   * one that `isEmpty` says has no records.
   */
  async changed(
    models: Iterable<Model>,
    isEmpty: (model: Model) => Promise<boolean>,
  ): Promise<ChangedModel[]> {
    const found = await this.#collection.find({ filter: everything, sort: [], limit: MAX_MODELS })
    const known = new Map(found.map(({ model, fields }) => [String(model), String(fields)]))
    const others = [...models].filter((model) => known.get(model.name) !== textOf(model))
    const looked = others.map(async (model) => {
      const before = known.get(model.name)
      const fields = before === undefined ? [] : changedFields(fingerprintIn(before), model)
      if (fields.length > 0 && !(await isEmpty(model))) return [{ model, fields }]
      await (before === undefined ? this.#add(model) : this.accept(model))
      return []
    })
    return (await Promise.all(looked)).flat()
  }

  /** From now on, the records of `model` count as written under it. */
  async accept(model: Model): Promise<void> {
    await this.#put(model.name, { fields: textOf(model) })
  }

  /** What an interrupted backfill to this `model` noted last. */
  async progress(model: Model): Promise<string | undefined> {
    const [found] = await this.#collection.find({
      filter: filterOf(backfillOf(model)),
      sort: [],
      limit: 1,
    })
    if (found?.fields !== textOf(model)) return undefined
    return typeof found.progress === 'string' ? found.progress : undefined
  }

  /** Notes how far a backfill has come; undefined: to the end. */
  async note(model: Model, progress: string | undefined): Promise<void> {
    const place = backfillOf(model)
    if (progress === undefined) await this.#collection.delete(filterOf(place))
    else await this.#put(place, { fields: textOf(model), progress })
  }

  /** Whether `fact` has been added. */
  async has(fact: string): Promise<boolean> {
    const found = await this.#collection.find({ filter: filterOf(fact), sort: [], limit: 1 })
    return found.length > 0
  }

  /** Keeps that `fact` is so. */
  async add(fact: string): Promise<void> {
    await this.#insert(fact, { fields: '' })
  }

  async #add(model: Model): Promise<void> {
    await this.#insert(model.name, { fields: textOf(model) })
  }

  async #put(place: string, values: Values): Promise<void> {
    if (await this.#collection.update(filterOf(place), { set: values })) return
    await this.#insert(place, values)
  }

  async #insert(place: string, values: Values): Promise<void> {
    try {
      await this.#collection.insert({ _id: idOf(place), model: place, ...values })
    } catch (error) {
      // Another process has put it there, which starts the same app.
      if (!(error instanceof DuplicateKey)) throw error
    }
  }
}

function textOf(model: Model): string {
  return JSON.stringify(fingerprintOf(model))
}

function fingerprintIn(text: string): Fingerprint {
  return JSON.parse(text)
}

/** No model can be named so: mounts and messages name models as TypeScript does. */
function backfillOf({ name }: Model): string {
  return `backfill of ${name}`
}

function filterOf(place: string): Filter {
  return withId(idOf(place))
}
