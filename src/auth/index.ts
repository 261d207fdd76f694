/**
 * `fieldgate/accounts`: accounts of the parts that an app names, for bundles that have nothing of the others.
 * `createAuthRouter` of `fieldgate` has all of them.
 *
 * @module
 */

export {
  type AccountsPart,
  apple,
  emailVerification,
  facebook,
  github,
  google,
  legacyTokens,
  ownProviders,
  sessions,
} from './parts.ts'
export { accountsWith } from './router.ts'
