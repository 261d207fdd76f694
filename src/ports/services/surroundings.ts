/** What a database holds around the records of a collection, as other programs left it. */

/** What is there besides a collection's records. */
export interface Surroundings {
  /** The database's name. */
  readonly database: string
  /** The names of all collections of the database. */
  readonly collections: readonly string[]
  /** How the collection compares strings, if not by their code points: `en, strength 2`. */
  readonly collation?: string
  /** Indexes that the store did not create, or did once, and that the schema has no use for. */
  readonly indexes: readonly ForeignIndex[]
}

/** An index that the store did not create, on fields that a schema declares. It is never dropped. */
export interface ForeignIndex {
  readonly name: string
  readonly fields: readonly string[]
  /** Whether it removes records by itself, refuses records that the model takes, or only costs time. */
  readonly harm: 'deletes' | 'refuses' | 'none'
  /** What it does, as the rest of a sentence that begins with its name. */
  readonly note: string
  /** When it may be dropped, with the line for the database's shell, as a sentence. */
  readonly advice: string
}
