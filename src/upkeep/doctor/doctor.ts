/** A database that other programs set up, looked at before an app uses it. Nothing is written. */

import { collectionSchema } from '../../model/collection-schema.ts'
import type { Model } from '../../model/model.ts'
import { collectionName } from '../../model/plural.ts'
import type { Surroundings } from '../../ports/services/surroundings.ts'
import type { Store } from '../../ports/store/store.ts'
import type { Progress } from '../tally.ts'
import { type AccountIdentifier, about, type Finding, readRecords } from './records.ts'

export interface Patient {
  /** A store that tells what is around its records: that of MongoDB. */
  readonly database: Store
  readonly models: readonly Model[]
  /** By the model of accounts: the fields by which people sign in. */
  readonly identifiers: ReadonlyMap<Model, readonly AccountIdentifier[]>
}

export interface Diagnosis {
  readonly database: string
  readonly ok: boolean
  readonly problems: readonly Finding[]
  /** What is worth knowing, and does no harm. */
  readonly notes: readonly Finding[]
}

/** Looks at everything around the records of the models, and reads every record, twice. */
export async function examine(
  { database, models, identifiers }: Patient,
  progress: Progress,
): Promise<Diagnosis> {
  const problems: Finding[] = []
  const notes: Finding[] = []
  const taken = new Set(models.map(({ collection }) => collection))
  let name = ''
  let records = 0
  for (const model of models) {
    const schema = collectionSchema(model)
    const around = await database.surroundings?.(schema)
    if (!around) throw new TypeError(`the store '${database.name}' can't be examined`)
    const total = await database.collection(schema).estimate()
    name = around.database
    records += total
    for (const [isHarmful, finding] of sightings(model, around, total, taken)) {
      const findings = isHarmful ? problems : notes
      findings.push(finding)
    }
    if (total === 0) continue
    const subject = { database, model, schema, identifiers: identifiers.get(model) ?? [], total }
    problems.push(...(await readRecords(subject, progress)))
  }
  if (records === 0) problems.push(...nothing(models, name))
  return { database: name, ok: problems.length === 0, problems, notes }
}

function nothing([model]: readonly Model[], name: string): readonly Finding[] {
  const note = `no model has a record in the database '${name}': is it the right one?`
  return model ? [{ ...about(model, 'collection', '', note), model: '-' }] : []
}

/** What there is around the records of a model, and whether it does harm. `taken` are the collections of the app's models. */
function* sightings(
  model: Model,
  { collections, indexes, collation }: Surroundings,
  total: number,
  taken: ReadonlySet<string>,
): Generator<readonly [isHarmful: boolean, finding: Finding]> {
  const { name, collection } = model
  if (total === 0) {
    const state = collections.includes(collection) ? 'is empty' : "doesn't exist"
    const other = collections.find((one) => !taken.has(one) && likely(name, collection, one))
    const advice = other
      ? `, but there is '${other}'. If the records are there, write collection: '${other}' in the model`
      : ''
    const note = `the collection '${collection}' ${state}${advice}`
    yield [other !== undefined, about(model, 'collection', '', note)]
  }
  for (const { name, fields, harm, note, advice } of indexes) {
    const told = `the index '${name}' ${note} ${advice}`
    yield [harm !== 'none', about(model, 'index', fields.join(', '), told)]
  }
  if (collation === undefined) return
  const note = `the collection '${collection}' compares strings by ${collation}: filters, unique fields and sorts follow it. Only a new collection can have another`
  yield [true, about(model, 'collation', '', note)]
}

/** Whether a program might have stored such records there. */
function likely(name: string, collection: string, other: string): boolean {
  const lower = other.toLowerCase()
  const word = name.toLowerCase()
  // The last two are what simpler rules make of a name.
  const names = [collectionName(name), collection.toLowerCase(), word, `${word}s`, `${word}es`]
  return names.includes(lower)
}
