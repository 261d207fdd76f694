/** What an auth router's type remembers of its options, for clients that are checked against it. */

import type { IdentifierOption } from './identifiers.ts'
import type { Method } from './method.ts'
import type { AuthOptions } from './options.ts'

/** The accounts that a router serves: users of the type `R`, with writes of the type `I`, in the way of `O`. */
export interface ServedAccounts<R, I, O> {
  readonly serves: 'accounts'
  readonly record: R
  readonly input: I
  readonly options: O
}

/** The options of an auth router that a client has to know, each as it was written. */
export interface AuthChoices<N, A, U, T, E, V, M = unknown> {
  readonly identifiers: N
  readonly registerFields: A
  readonly updateFields: U
  readonly routes: T
  readonly refresh: E
  readonly emailVerification: V
  readonly methods: M
}

/** The same options, typed so that the compiler infers each from what is written. */
export interface AuthChosen<R, N, A, U, T, E, V, M> {
  readonly identifiers?: N | readonly IdentifierOption[]
  readonly registerFields?: A | readonly (keyof R & string)[]
  readonly updateFields?: U | readonly (keyof R & string)[]
  readonly routes?: T | NonNullable<AuthOptions<R>['routes']>
  readonly refresh?: E | NonNullable<AuthOptions<R>['refresh']>
  readonly emailVerification?: V | NonNullable<AuthOptions<R>['emailVerification']>
  readonly methods?: M | readonly Method[]
}
