/**
 * The models as they were when their records were written, kept beside the records: one read at start-up tells which
 * have changed. What a model demands of its records is kept in words that can be compared, its fingerprint.
 */

import type { $ZodType } from 'zod/v4/core'
import { type Model, timestampFields } from '../../model/model.ts'
import { insertOnce, ownId, ownSchema } from '../../model/own-records.ts'
import { type Part, partsIn } from '../../model/parts.ts'
import { collectionName } from '../../model/plural.ts'
import { staticDefault } from '../../model/values/absence.ts'
import { firstIn } from '../../ports/evaluation/walk.ts'
import { everything, type Filter, withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Collection, CollectionSchema } from '../../ports/store/store.ts'
import { endedRules } from './overlaps.ts'

export const historySchema: CollectionSchema = ownSchema('fieldgate_models', {
  ...{ model: 'string', fields: 'string', progress: 'string', collection: 'string' },
})

/** A model that is not as it was when its records were written. */
export interface ChangedModel {
  readonly model: Model
  readonly fields: readonly string[]
}

/** More than the number of models in any app. */
export const MAX_MODELS = 10_000

/** What is known of the models that wrote the records. */
export class ModelHistory {
  readonly #collection: Collection

  /** `collection` has the schema `historySchema`. */
  constructor(collection: Collection) {
    this.#collection = collection
  }

  /**
   * Those of `models` that have changed so that records may not fit. The others are known from now on; so is a changed
   * one that has no records in what `stored` returns. `warn` is told of a new one that looks like one that has gone, and of
   * one whose records are elsewhere.
   */
  async changed(
    models: Iterable<Model>,
    stored: (model: Model) => Collection,
    warn: (message: string) => void = () => {},
  ): Promise<ChangedModel[]> {
    const found = await this.#collection.find({ filter: everything, sort: [], limit: MAX_MODELS })
    const known = new Map(found.map((one) => [String(one.model), one]))
    const all = [...models]
    for (const fact of endedRules(known.keys(), all)) await this.#collection.delete(filterOf(fact))
    const others = all.filter((model) => {
      const { fields, collection } = known.get(model.name) ?? {}
      return fields !== demandsOf(model) || collection !== model.collection
    })
    const gone = found.filter(({ model }) => all.every(({ name }) => name !== model))
    const looked = others.map(async (model) => {
      const before = known.get(model.name)
      if (before === undefined) {
        await this.#meet(model, gone, stored(model), warn)
        return []
      }
      const fields = changedFields(JSON.parse(String(before.fields)), model)
      const place = before.collection ?? model.collection
      const hasMoved = place !== model.collection
      const hasRecords =
        (hasMoved || fields.length > 0) && (await firstIn(stored(model), everything)) !== undefined
      if (hasRecords && fields.length > 0) return [{ model, fields }]
      if (hasMoved && !hasRecords) {
        warn(
          `Model '${model.name}' has no records in '${model.collection}', and its collection was '${place}' before. If that has its records, rename it in the database, or write collection: '${place}' in the model.`,
        )
      }
      await this.accept(model)
      return []
    })
    return (await Promise.all(looked)).flat()
  }

  /** A new model; perhaps one of those that are `gone`, under another name, so that its records are elsewhere. */
  async #meet(
    model: Model,
    gone: readonly Fields[],
    stored: Collection,
    warn: (message: string) => void,
  ): Promise<void> {
    const fields = demandsOf(model)
    const former = gone.find((one) => one.fields === fields)
    const collection = former?.collection ?? collectionName(String(former?.model))
    if (former && collection !== model.collection && !(await firstIn(stored, everything))) {
      warn(
        `Model '${model.name}' is new and has no records. '${former.model}' had the same fields. If it is the same model under another name, write collection: '${collection}' in it, which has its records.`,
      )
    }
    await this.#insert(model.name, { fields, collection: model.collection })
  }

  /** From now on, the records of `model` count as written under it. */
  async accept(model: Model): Promise<void> {
    await this.#put(model.name, { fields: demandsOf(model), collection: model.collection })
  }

  /** What an interrupted backfill to this `model` noted last. */
  async progress(model: Model): Promise<string | undefined> {
    const found = await firstIn(this.#collection, filterOf(backfillOf(model)))
    if (found?.fields !== demandsOf(model)) return undefined
    return typeof found.progress === 'string' ? found.progress : undefined
  }

  /** Notes how far a backfill has come; undefined: to the end. */
  async note(model: Model, progress: string | undefined): Promise<void> {
    const place = backfillOf(model)
    if (progress === undefined) await this.#collection.delete(filterOf(place))
    else await this.#put(place, { fields: demandsOf(model), progress })
  }

  async has(fact: string): Promise<boolean> {
    return (await firstIn(this.#collection, filterOf(fact))) !== undefined
  }

  async add(fact: string): Promise<void> {
    await this.#insert(fact, { fields: '' })
  }

  async #put(place: string, values: Fields): Promise<void> {
    if (await this.#collection.update(filterOf(place), { set: values })) return
    await this.#insert(place, values)
  }

  /** Another process, which starts the same app, may have put it there. */
  async #insert(place: string, values: Fields): Promise<void> {
    await insertOnce(this.#collection, { _id: ownId(place), model: place, ...values })
  }
}

/** What `model` demands of its records, as a text: another one if another version of the model may show them otherwise. */
export function demandsOf(model: Model): string {
  return JSON.stringify(fingerprintOf(model))
}

/** No model can be named so: mounts and messages name models as TypeScript does. */
function backfillOf({ name }: Model): string {
  return `backfill of ${name}`
}

function filterOf(place: string): Filter {
  return withId(ownId(place))
}

type Fingerprint = Readonly<Record<string, string>>

/** The fingerprint of `model`. Rules in functions are not in it: nobody can tell whether a function has changed. */
function fingerprintOf({ fields, idType, timestamps }: Model): Fingerprint {
  const demands = Object.entries(fields).map(([field, schema]) => [
    field,
    partsIn(schema).parts.map(demandOf).join('\n'),
  ])
  return {
    _id: idType,
    ...Object.fromEntries(timestampFields(timestamps).map((name) => [name, 'date'])),
    ...Object.fromEntries(demands),
  }
}

/** The fields because of which records that were stored under `before` may not be as `model` says. */
function changedFields(before: Fingerprint, model: Model): string[] {
  const now = fingerprintOf(model)
  const names = new Set([...Object.keys(before), ...Object.keys(now)])
  return [...names].filter((name) => {
    if (before[name] === now[name]) return false
    return before[name] !== undefined || !mayLack(model.fields[name])
  })
}

/** Whether old records fit without the field. With a default they do, but filters would not find it. */
function mayLack(schema: $ZodType | undefined): boolean {
  return schema?._zod.optin === 'optional' && schema._zod.optout === 'optional'
}

function demandOf({ schema, path }: Part): string {
  const { def } = schema._zod
  const checks = (def.checks ?? []).map(({ _zod }) => settingsOf(_zod.def))
  const value = def.type === 'default' ? staticDefault(schema) : undefined
  return JSON.stringify([path, settingsOf(def), checks, value])
}

/** Other schemas, functions, and what only words messages or would be computed. */
const LEFT_OUT = new Set(['defaultValue', 'shape', 'getter', 'checks', 'error', 'message', 'abort'])

/** The settings of a schema or check that say which values it takes. */
function settingsOf(def: object): unknown[] {
  return Object.keys(def)
    .filter((name) => !LEFT_OUT.has(name))
    .sort()
    .flatMap((name) => {
      const value = settingOf((def as Readonly<Record<string, unknown>>)[name])
      return value === undefined ? [] : [[name, value]]
    })
}

function settingOf(value: unknown): unknown {
  if (value instanceof RegExp) return String(value)
  if (Array.isArray(value)) return value.every(isPlain) ? value.map(String) : undefined
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
    return entries.every(([, one]) => isPlain(one)) ? entries.map(String) : undefined
  }
  return isPlain(value) && value !== undefined ? String(value) : undefined
}

function isPlain(value: unknown): boolean {
  return value === null || !['object', 'function'].includes(typeof value)
}
