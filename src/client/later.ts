/**
 * What the client loads when it is first used: files, forms, conditions, and routes of your own.
 *
 * @module
 */

// biome-ignore lint/performance/noBarrelFile: one request loads all of it
export { called } from './call-route.ts'
export { exported } from './export.ts'
export { formOf } from './form.ts'
export { tagOf } from './if-match.ts'
export { uploaded } from './upload.ts'
