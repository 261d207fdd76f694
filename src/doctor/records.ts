/**
 * The records of one model: values that it can't hold, members that it doesn't declare, identifiers that don't match.
 *
 * @module
 */

import { recordChecker } from '../check/record.ts'
import type { Model } from '../model/model.ts'
import { upgraded } from '../model/upgrade.ts'
import { isWithin } from '../ports/paths.ts'
import type { CollectionSchema, Fields, Store } from '../ports/store.ts'
import { batches } from '../ports/walk.ts'
import { type Finding, Findings } from './finding.ts'

/** A field by which people sign in. */
export interface AccountIdentifier {
  readonly field: string
  /** What a sign-in looks for when somebody types `text`; undefined if that is not such an identifier. */
  normalize(text: string): string | undefined
}

/** Hears how far an examination is. */
export interface DoctorProgress {
  /** A pass over a model's records is begun; there are about `total`. */
  start(pass: string, total: number): void
  /** So many of them have been read. */
  advance(pass: string, done: number): void
}

/** One model and its records. */
export interface Subject {
  readonly database: Store
  readonly model: Model
  readonly schema: CollectionSchema
  readonly identifiers: readonly AccountIdentifier[]
  readonly total: number
}

/** What is wrong with the records; members of undeclared ones are not looked at. */
export async function readRecords(
  subject: Subject,
  progress: DoctorProgress,
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
  progress: DoctorProgress,
): Promise<readonly Finding[]> {
  const pass = `${model.name}, types`
  const findings = new Findings(model.name)
  progress.start(pass, total)
  let done = 0
  for await (const { read, values } of database.copying?.foreign?.(schema) ?? []) {
    for (const { id, field, type, becomes } of values) {
      findings.add('type', field, typeNote(field, type, becomes), id)
    }
    done += read
    progress.advance(pass, done)
  }
  return findings.all()
}

function typeNote(field: string, type: string, becomes: string): string {
  return field === '_id'
    ? `${type} is no id of this model: its requests don't find the record`
    : `${type} is shown as ${becomes}, and stored as that when the field is written`
}

async function membersIn(
  { database, model, schema, identifiers, total }: Subject,
  progress: DoctorProgress,
): Promise<readonly Finding[]> {
  const pass = `${model.name}, fields`
  const findings = new Findings(model.name)
  const check = recordChecker(model)
  progress.start(pass, total)
  let done = 0
  for await (const batch of batches(database.collection(schema), model.idType)) {
    for (const stored of batch) {
      const record = upgraded(model, stored)
      const undeclared = (await check(record)).filter(({ problem }) => problem === 'undeclared')
      const id = String(record._id)
      for (const { field } of undeclared) {
        findings.add('undeclared', field, undeclaredNote(field), id)
      }
      for (const [field, note] of mismatches(identifiers, record)) {
        findings.add('identifier', field, note, id)
      }
    }
    done += batch.length
    progress.advance(pass, done)
  }
  return findings.all()
}

function undeclaredNote(field: string): string {
  return field.endsWith('._id')
    ? 'clients never see it, and a list that they write loses it; declare it in the model to keep it'
    : 'clients never see it; declare it in the model, or leave it to the program that stored it'
}

/** The identifiers by which no sign-in finds the account, each with the reason. */
function mismatches(
  identifiers: readonly AccountIdentifier[],
  record: Fields,
): readonly (readonly [field: string, note: string])[] {
  return identifiers.flatMap((identifier) => {
    const note = mismatch(identifier, record)
    return note === undefined ? [] : [[identifier.field, note] as const]
  })
}

/** Why no sign-in finds an account by its stored identifier; undefined if one does. */
function mismatch({ field, normalize }: AccountIdentifier, record: Fields): string | undefined {
  const stored = record[field]
  if (stored === undefined || stored === null) return undefined
  if (typeof stored !== 'string') return 'no sign-in finds it, because it is not a string'
  const wanted = normalize(stored)
  if (wanted === stored) return undefined
  return wanted === undefined
    ? 'no sign-in finds it, because it is not valid; correct it'
    : 'no sign-in finds it, because it is not stored in its normal form; store that, unless another account has it'
}
