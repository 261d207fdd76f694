/** The models of an app as its routers see them. */

import type { ApiRequest } from '../../http/request/request.ts'
import type { Managed, Model } from '../../model/model.ts'
import type { Scalar } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Collection } from '../../ports/store/store.ts'
import type { ModelFiles } from '../../uploads/model-files.ts'
import type { RecordEngine } from './record-engine.ts'

/** One searched field: of the model itself, or of the model that a reference leads to. */
export type SearchField =
  | { readonly field: string }
  | { readonly reference: string; readonly path: string; readonly target: () => Model }

/** The models of an app, and what its routers declare about each. */
export interface Models {
  /** The models that are mounted or used. */
  known(): Iterable<Model>
  /** The engine of a model, shared by all its routers. */
  engine(model: Model): RecordEngine
  /** The records of a model as they are stored, perhaps under earlier names of their fields. */
  stored(model: Model): Collection
  /** A collection with the schema of `model` and another name; writes to it count as writes of the model. */
  twin(model: Model, name: string): Collection
  /** The model that a `ref()` names. */
  modelNamed(name: string): Model | undefined
  /** Declares that `path` of `model` will be searched. */
  declareSearch(model: Model, path: string): void
  /** Declares the fields that a router of `model` searches. */
  declareSearched(model: Model, fields: readonly SearchField[]): void
  /** The fields that the routers of `model` search. Complete when every router is mounted. */
  searchedIn(model: Model): readonly SearchField[]
  /** Declares that clients will filter by the elements of the list `field` of `model`. Before start-up. */
  declareList(model: Model, field: string): void
  /**
   * Declares which records of `model` a router shows to everyone who gets past its guards, for populate and search
   * through references.
   */
  declareScope(model: Model, scope: ScopeOption | undefined): void
  /**
   * Declares that no router may let clients write `fields` of `model`; `role`, if it is one of them, only those who are
   * let through by a role.
   */
  protect(model: Model, fields: readonly string[], role: string): void
  /** Declares which fields of `model` a request sees through references. */
  declareShown(model: Model, shown: (request: ApiRequest) => ReadonlySet<string> | undefined): void
  /** The fields of `model` that `request` sees through references, unless your app's code names them. */
  shownThrough(model: Model, request: ApiRequest): ReadonlySet<string> | undefined
  /** The fields of `model` that hold a role. */
  roleFields(model: Model): ReadonlySet<string> | undefined
  /** The protected fields of `model`; undefined if it has none. Complete when the app is ready. */
  protectedFields(model: Model): ReadonlySet<string> | undefined
  /** The file fields of `model`, from all its routers. Complete when every router is mounted. */
  filesOf(model: Model): ModelFiles
  /** The scopes of the routers that serve `model`; an entry is undefined if its router shows all records. */
  scopesOf(model: Model): readonly (ScopeOption | undefined)[]
}

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
