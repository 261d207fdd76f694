/**
 * `fieldgate/batch`: several writes of records in one request, all or nothing.
 *
 * @module
 */

export { type BatchOptions, batch } from './batch.ts'
