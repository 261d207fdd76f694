/** What start-up says of an index that another version of the app has made. */

/** An index of a store's own that no model declares. */
export interface LeftIndex {
  readonly collection: string
  /** Its name in the database. */
  readonly name: string
  /** Of a unique index, its fields. */
  readonly unique?: readonly string[] | undefined
}

/** The warning about it; `store` is the database's name. */
export function leftOverWarning(store: string, { collection, name, unique }: LeftIndex): string {
  return `${store}: '${collection}' still has the ${unique ? 'unique index' : 'index'} '${name}' of another version of the app, which ${harmOf(unique)}. If no version needs it any more, 'npx fieldgate backfill <file>' drops it; <file> is the one that exports your app.`
}

/** What an index does to writes; `unique` are the fields of one that keeps them so. */
export function harmOf(unique: readonly string[] | undefined): string {
  return unique
    ? `refuses a second record with the same ${unique.join(', ')}`
    : 'slows down every write'
}
