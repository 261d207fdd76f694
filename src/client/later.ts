/**
 * What the client loads when it is first used: files, forms, routes of your own, and ways to sign in.
 *
 * @module
 */

// biome-ignore lint/performance/noBarrelFile: one request loads all of it
export { called } from './call-route.ts'
export { exported } from './export.ts'
export { formOf } from './form.ts'
export { callMethod } from './methods.ts'
