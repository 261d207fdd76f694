/**
 * `fieldgate/health`: routes for those who run the app.
 *
 * @module
 */

export { type HealthOptions, health } from './health.ts'
export { metrics } from './metrics.ts'
