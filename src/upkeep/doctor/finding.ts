/**
 * What an examination finds.
 *
 * @module
 */

import type { Model } from '../../model/model.ts'
import type { Some } from '../tally.ts'

/**
 * The model's records may be in another collection; the collection compares strings in its own way; an index that
 * fieldgate did not create; accounts whose stored identifier no sign-in matches; values of other types than the model's;
 * members that the model does not declare.
 */
export type FindingKind =
  | 'collection'
  | 'collation'
  | 'index'
  | 'identifier'
  | 'type'
  | 'undeclared'

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
