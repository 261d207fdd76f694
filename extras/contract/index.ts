/**
 * What you import from `fieldgate/contract` to test your own adapter: the promises of each port, and `verify`.
 *
 * @module
 */

export { BrokenPromise } from './assert.ts'
export { cacheContract, type OpenCache } from './cache.ts'
export type { OpenFiles } from './files/ask.ts'
export { fileContract } from './files/contract.ts'
export { imageContract } from './images.ts'
export { storeContract } from './store/contract.ts'
export {
  type Contract,
  type Opening,
  type RegisterGroup,
  type RegisterTest,
  type Runner,
  verify,
} from './verify.ts'
