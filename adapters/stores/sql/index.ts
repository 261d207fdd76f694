/**
 * `fieldgate/sql`: a store for a SQL database of your own, whose records are JSON in a column. You write how the database
 * reads JSON, and how it runs statements and transactions.
 *
 * @module
 */

export { readerOf, textOf } from '../json-values.ts'
export { foldedText, type JsonQuery, type JsonReader, jsonQuery } from './in-json.ts'
export {
  type CollectionWrites,
  type Records,
  type Transaction,
  writesIn,
} from './in-transactions.ts'
export {
  type GroupColumn,
  type GroupDialect,
  selectGroups,
  type ValueMeasure,
} from './page.ts'
