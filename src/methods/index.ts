/**
 * `fieldgate/methods`: what a way to sign in is made of. The methods that come with fieldgate are made of it too.
 *
 * @module
 */

export type {
  Accounts,
  Bearer,
  Method,
  MethodRoute,
  MethodSignIn,
  NamedAccount,
  OpenMethod,
  SecondFactor,
  SentCode,
  SignInMethod,
} from '../auth/setup/method.ts'
export { methodModel } from './method-model.ts'
