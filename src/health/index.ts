/**
 * `fieldgate/health`: routes for monitoring an app.
 *
 * @module
 */

export { type HealthOptions, health } from './health.ts'
export { metrics } from './metrics.ts'
