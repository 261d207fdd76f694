/**
 * `fieldgate/webhooks`: tells other servers of changes, by Standard Webhooks 1.0.0.
 *
 * @module
 */

export type { RecordChange } from '../changes/consume.ts'
export { type RunningBackground, runBackground, runDue } from '../run.ts'
export type { WebhookEndpoint } from './endpoints.ts'
export type { Principal } from './seen.ts'
export type { WebhookSecret } from './signature.ts'
export { type WebhookOptions, webhooks } from './webhooks.ts'
