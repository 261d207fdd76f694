/**
 * What start-up says of indexes that another version of the app has declared.
 *
 * @module
 */

/** An index that no model of this version declares. */
export interface OtherIndex {
  readonly collection: string
  readonly name: string
  /** Of a unique index, its fields. */
  readonly unique: readonly string[] | undefined
}

/** The warning about an index; `store` is the store's name for people, such as `PostgreSQL`. */
export function leftOverWarning(store: string, { collection, name, unique }: OtherIndex): string {
  const harm = unique
    ? `refuses a second record with the same ${unique.join(', ')}`
    : 'costs time on every write'
  return `${store}: '${collection}' has the index '${name}', which another version of the app has declared. It ${harm}. Once no other version runs, 'npx fieldgate backfill <file>' drops it; <file> is the one that exports your app.`
}
