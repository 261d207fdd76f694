/**
 * `fieldgate/methods`: what a way to sign in is made of. The methods that come with fieldgate are made of it too.
 *
 * @module
 */

export { defineMethod } from '../auth/machinery.ts'
export type {
  Accounts,
  Bearer,
  Method,
  MethodDefinition,
  MethodRoute,
  MethodSignIn,
  NamedAccount,
  NewAccount,
  OpenMethod,
  SecondFactor,
  SentCode,
  SignInMethod,
} from '../auth/setup/method.ts'
export { methodModel } from './method-model.ts'
