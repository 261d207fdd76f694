/**
 * `fieldgate/audit`: who may do what in an app.
 *
 * @module
 */

export { type AuditRow, audit } from './audit.ts'
export type { FieldColumns } from './records.ts'
