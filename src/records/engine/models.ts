/** The models of an app as its routers see them. */

import type { Model } from '../../model/model.ts'
import type { Collection } from '../../ports/store.ts'
import type { ModelFiles } from '../../uploads/model-files.ts'
import type { RecordEngine } from './record-engine.ts'
import type { KnownScopes, ScopeOption } from './scopes.ts'

/** One searched field: of the model itself, or of the model that a reference leads to. */
export type SearchField =
  | { readonly field: string }
  | { readonly reference: string; readonly path: string; readonly target: () => Model }

/** The models of an app, and what its routers declare about each. */
export interface Models extends KnownScopes {
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
  /** The fields of `model` that hold a role. */
  roleFields(model: Model): ReadonlySet<string> | undefined
  /** The protected fields of `model`; undefined if it has none. Complete when the app is ready. */
  protectedFields(model: Model): ReadonlySet<string> | undefined
  /** The file fields of `model`, from all its routers. Complete when every router is mounted. */
  filesOf(model: Model): ModelFiles
}
