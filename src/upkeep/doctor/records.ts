/** The records of one model: values that it can't hold, members that it doesn't declare, identifiers that don't match. */

import type { Model } from '../../model/model.ts'
import { upgraded } from '../../model/versions/upgrade.ts'
import { batches } from '../../ports/evaluation/walk.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Shape } from '../../ports/store/shape.ts'
import type { CollectionSchema, Store } from '../../ports/store/store.ts'
import { isWithin } from '../../ports/values/paths.ts'
import { type Finding as Misfit, recordChecker } from '../check/record.ts'
import { type Progress, type Some, Tally, told } from '../tally.ts'

export interface AccountIdentifier {
  readonly field: string
  /** What a sign-in looks for when a user types `text`; undefined if that is not such an identifier. */
  normalize(text: string): string | undefined
  /** Why a sign-in may take `name` for an identifier of another kind; undefined if it doesn't. */
  misread?(name: string): string | undefined
}

export interface Subject {
  readonly database: Store
  readonly model: Model
  readonly schema: CollectionSchema
  readonly identifiers: readonly AccountIdentifier[]
  readonly total: number
}

type Found = Omit<Finding, keyof Some>

/** What is wrong with the records; members of undeclared ones are not looked at. */
export async function readRecords(
  subject: Subject,
  progress: Progress,
): Promise<readonly Finding[]> {
  const types = await typesIn(subject, progress)
  const members = await membersIn(subject, progress)
  const undeclared = members.filter(({ problem }) => problem === 'undeclared')
  const isShown = ({ field }: Finding) => !undeclared.some((one) => isWithin(field, one.field))
  return [...types.filter(isShown), ...members]
}

/** Values that reads show as something else, and that a write of their field stores as that. */
async function typesIn(
  { database, model, schema, total }: Subject,
  progress: Progress,
): Promise<readonly Finding[]> {
  const findings = new Tally<Found>()
  const all = database.copying?.foreign?.(schema)
  if (!all) return []
  for await (const { values, unmatched } of told(all, progress, `${model.name}, types`, total)) {
    for (const { id, field, type, becomes, onlyCopied } of values) {
      const note = typeNote(field, type, becomes)
      if (!onlyCopied) findings.add({ model: model.name, problem: 'type', field, note }, id)
    }
    for (const { id, field, type, wanted } of unmatched ?? []) {
      const note = `${type} is stored, where this app stores ${wanted}: it is shown, but no filter and no reference finds it; store ${wanted} instead`
      findings.add({ model: model.name, problem: 'type', field, note }, id)
    }
  }
  return findings.all()
}

function typeNote(field: string, type: string, becomes: string): string {
  return field === '_id'
    ? `${type} is no id of this model: its requests don't find the record`
    : `${type} is shown as ${becomes}, and stored as that when the field is written`
}

async function membersIn(subject: Subject, progress: Progress): Promise<readonly Finding[]> {
  const { database, model, schema, total } = subject
  const findings = new Tally<Found>()
  const check = recordChecker(model)
  const all = batches(database.collection(schema), model.idType)
  for await (const batch of told(all, progress, `${model.name}, fields`, total)) {
    for (const stored of batch) {
      const record = upgraded(model, stored)
      for (const one of misfitsIn(record, await check(record), subject)) {
        findings.add({ model: model.name, ...one }, String(record._id))
      }
    }
  }
  return findings.all()
}

function* misfitsIn(
  record: Fields,
  found: readonly Misfit[],
  { model, identifiers }: Subject,
): Generator<Omit<Found, 'model'>> {
  for (const { problem, field } of found) {
    if (problem === 'type') yield { problem, field, note: OTHER_TYPE }
    // What else a check finds comes of a changed model as well.
    if (problem === 'undeclared') yield { problem, field, note: undeclaredNote(model.shape, field) }
  }
  for (const one of identifiers) {
    const note = mismatch(one, record)
    if (note !== undefined) yield { problem: 'identifier', field: one.field, note }
  }
}

const OTHER_TYPE =
  "its type is not the model's: it is shown as it is, even if another program casts it; change the records, or write a convert function"

function undeclaredNote(shape: Shape, field: string): string {
  const whole = writtenWhole(shape, field)
  return whole
    ? `clients never see it, and ${whole} that they write loses it; declare it in the model to keep it`
    : 'clients never see it; declare it in the model, or leave it to the program that stored it'
}

/** What a write replaces as a whole, with an undeclared member in it; undefined if writes leave such a member alone. */
function writtenWhole(shape: Shape, field: string): string | undefined {
  let at: Shape | undefined = shape
  for (const key of field.split('.')) {
    if (at?.kind !== 'object') return at && (at.kind === 'list' ? 'a list' : 'an object')
    at = at.fields.get(key)
  }
  return undefined
}

/** Why no sign-in finds an account by its stored identifier, or another one may; undefined if all is well. */
function mismatch(
  { field, normalize, misread }: AccountIdentifier,
  record: Fields,
): string | undefined {
  const stored = record[field]
  if (stored === undefined || stored === null) return undefined
  if (typeof stored !== 'string') return 'no sign-in finds it, because it is not a string'
  const wanted = normalize(stored)
  if (wanted === stored) return misread?.(stored)
  return wanted === undefined
    ? 'no sign-in finds it, because it is not valid; correct it'
    : 'no sign-in finds it, because it is not stored in its normal form; store that, unless another account has it'
}

/**
 * The model's records may be in another collection; the collection compares strings in its own way; an index that
 * fieldgate did not create; accounts whose stored identifier no sign-in matches; values of other types than the model's;
 * members that the model does not declare.
 */
type FindingKind = 'collection' | 'collation' | 'index' | 'identifier' | 'type' | 'undeclared'

/** One thing that was found, of one model; the count of what is not about records is 0. */
export interface Finding extends Some {
  readonly model: string
  readonly problem: FindingKind
  /** The path, without indexes of lists; several fields of an index have commas between them. Empty for a collection. */
  readonly field: string
  /** What it means, and what to do. */
  readonly note: string
}

/** A finding that is not about single records. */
export function about(
  { name }: Pick<Model, 'name'>,
  problem: FindingKind,
  field: string,
  note: string,
): Finding {
  return { model: name, problem, field, count: 0, examples: [], note }
}
