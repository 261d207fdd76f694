/**
 * `fieldgate/app`: apps of the parts that they name, for bundles that have nothing of the others. `createApp` of `fieldgate`
 * has all of them.
 *
 * @module
 */

export type { AppParts } from '../records/engine/host.ts'
export { appWith } from './app.ts'
export { atomic, caching, exports, history, live } from './parts.ts'
