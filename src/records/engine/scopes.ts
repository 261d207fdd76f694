/** What the `scope` of a router is. */

import type { ApiRequest } from '../../http/request.ts'
import type { Managed, Model } from '../../model/model.ts'
import type { Scalar } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'

/** What a scope may compare a field of type `V` with: a value, or an element if the field holds a list. */
export type ScopeValue<V> = unknown extends V
  ? Scalar
  :
      | (V extends readonly (infer E)[] ? Extract<E, Scalar> : Extract<V, Scalar>)
      // null matches a record that lacks the field.
      | (undefined extends V ? null : never)

/** Fields and the values that they must have, at least one; all of them must match. */
export type ScopeValues<R = Fields> = {
  readonly [F in keyof R & string]?: ScopeValue<R[F]> | undefined
} & {
  readonly [F in Exclude<keyof Managed, keyof R>]?: ScopeValue<Managed[F]> | undefined
}

/** What a scope returns: values that all must match, alternatives of which one must, or undefined for no limit. */
export type ScopeFilter<R = Fields> =
  | ('or' extends keyof R ? ScopeValues<R> : ScopeValues<R> & { readonly or?: never })
  | { readonly or: readonly ScopeValues<R>[] }
  | undefined
  | void

/**
 * Limits a router to the records that match what it returns. Return undefined for no limit. An object without fields,
 * an empty list, an undefined value, or anything else is a 500.
 */
export type ScopeOption<R = Fields> = (
  request: ApiRequest,
) => ScopeFilter<R> | Promise<ScopeFilter<R>>

/** The scopes of all routers of an app. */
export interface KnownScopes {
  /** The scopes of the routers that serve `model`; an entry is undefined if its router shows all records. */
  scopesOf(model: Model): readonly (ScopeOption | undefined)[]
}
