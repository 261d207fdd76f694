/**
 * What the client loads when it is first used: files, forms, groups, histories, live lists, routes of your own, and ways to sign in.
 */

// biome-ignore lint/performance/noBarrelFile: one request loads all of it
export { called as call } from './call-route.ts'
export { exported as export } from './export.ts'
export { formOf } from './form.ts'
export { groups as aggregate } from './groups.ts'
export { historyOf as history, restored as restore } from './history.ts'
export { tagOf } from './if-match.ts'
export { followed as live } from './live.ts'
export { callMethod } from './methods.ts'
export { pagesOf } from './pages.ts'
export { responseOf } from './parts.ts'
export { uploaded } from './upload.ts'
