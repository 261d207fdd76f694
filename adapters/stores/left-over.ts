/** Indexes that another version of the app has made: what start-up says of them, and whether one is on certain fields. */

/** An index of a store's own that no model declares. */
export interface LeftIndex {
  readonly collection: string
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

/** Whether two lists name the same fields, in any order. */
export function haveSameFields(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((field) => others.includes(field))
}
