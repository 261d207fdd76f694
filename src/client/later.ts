/** What the client loads when it is first used. */

// biome-ignore lint/performance/noBarrelFile: one request loads all of it
export { callMethod } from './accounts/methods.ts'
export { exported as export } from './lists/export.ts'
export { groups as aggregate } from './lists/groups.ts'
export { historyOf as history, restored as restore } from './lists/history.ts'
export { followed as live } from './lists/live.ts'
export { pagesOf } from './lists/pages.ts'
export { called as call } from './sending/call-route.ts'
export { formOf } from './sending/form.ts'
export { tagOf } from './sending/if-match.ts'
export { responseOf, timeout } from './sending/parts.ts'
export { uploaded } from './sending/upload.ts'
