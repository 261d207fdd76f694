/** The errors of a store, which the rest of fieldgate knows what to answer to. */

/** Another record already has this value in a unique field set. */
export class DuplicateKey extends Error {
  override readonly name = 'DuplicateKey'
  readonly fields: readonly string[]
  constructor(fields: readonly string[], options?: ErrorOptions) {
    super(`duplicate value for ${fields.join(', ')}`, options)
    this.fields = fields
  }
}

/**
 * The database refused a write by a rule that the model does not have: a foreign key (`'reference'`: a value refers to
 * nothing; `'referenced'`: others refer to the record), an exclusion (`'overlap'`), a check, a length or a range (`'value'`),
 * or the most bytes that it takes of a record, or of a value in an index (`'size'`).
 */
export class RefusedWrite extends Error {
  override readonly name = 'RefusedWrite'
  readonly rule: 'reference' | 'referenced' | 'overlap' | 'value' | 'size'
  /** The fields that the rule concerns; empty if the database does not name them. */
  readonly fields: readonly string[]
  /** What the log says of the rule: its name in the database, without a value of the record; `rule` if it gives none. */
  readonly by: string
  constructor(
    rule: RefusedWrite['rule'],
    fields: readonly string[] = [],
    { by = rule, ...options }: ErrorOptions & { readonly by?: string } = {},
  ) {
    super(`the database refused the write (${by})`, options)
    this.rule = rule
    this.fields = fields
    this.by = by
  }
}

/** Existing records violate a unique field set that `prepare` was asked to enforce. */
export class IndexConflict extends Error {
  override readonly name = 'IndexConflict'
  readonly collection: string
  readonly fields: readonly string[]
  constructor(collection: string, fields: readonly string[], options?: ErrorOptions) {
    super(
      `'${collection}' already holds records with the same ${fields.join(', ')}; make them differ, or drop it from 'unique'`,
      options,
    )
    this.collection = collection
    this.fields = fields
  }
}

/** A read took longer than its time limit. */
export class StoreTimeout extends Error {
  override readonly name = 'StoreTimeout'
}

/** The record that a read was to start after (`afterRecord`) does not exist. */
export class AnchorGone extends Error {
  override readonly name = 'AnchorGone'
  constructor(options?: ErrorOptions) {
    super('the record to start after does not exist', options)
  }
}

/** The store cannot be reached or has been closed. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** What a call asks for makes a statement that is longer than the database takes. */
export class QueryTooLong extends Error {
  override readonly name = 'QueryTooLong'
  constructor(options?: ErrorOptions) {
    super('the statement is longer than the database takes', options)
  }
}

/** The pattern of a `matches` condition is not a valid regular expression. */
export class InvalidPattern extends Error {
  override readonly name = 'InvalidPattern'
}
