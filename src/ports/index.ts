/**
 * What you import from `fieldgate/ports` to write a store, a cache, a file store or an image optimiser: the ports with
 * their promises, the errors that fieldgate recognises, and helpers for what every adapter must do alike.
 * `fieldgate/contract` tests the result.
 *
 * @module
 */

export type { CacheStore } from './services/cache.ts'
export {
  type Acl,
  type CallOptions,
  FileForbidden,
  type FileMeta,
  type FileStore,
  isKey,
  RangeNotSatisfiable,
  type Stage,
  type StoredFile,
} from './services/files.ts'
export type { Hasher } from './services/hasher.ts'
export { headerOf, type ImageHeader } from './services/image-header.ts'
export {
  type ImageOptimizer,
  type OptimizationLevel,
  type OptimizedType,
  TooManyPixels,
} from './services/images.ts'
export type { Logger, LogLine } from './services/logger.ts'
export type { MailMessage, MailTransporter } from './services/mailer.ts'
export type { ObservedRequest, Observer, StoreCall } from './services/observer.ts'
export type { ForeignIndex, Surroundings } from './services/surroundings.ts'
export {
  type AggregateRead,
  type DatePart,
  type GroupKey,
  type GroupSort,
  type Measure,
  roundedMeasure,
} from './store/aggregate.ts'
export type {
  ChangeKind,
  ChangeLog,
  LoggedChange,
  LoggedModel,
  NotedChange,
  ReadChanges,
} from './store/changes.ts'
export type { Copyable, ForeignBatch, ForeignValue, WriteWatch } from './store/copying.ts'
export { type Declared, declaredAt, onlyDeclared, withDefaults } from './store/declared.ts'
export type { Exclusion } from './store/exclusion.ts'
export {
  all,
  any,
  type CompareOperator,
  type Comparison,
  type Containment,
  everything,
  type Filter,
  type Junction,
  type ListOperator,
  type Membership,
  nothing,
  type PatternMatch,
  type Scalar,
  type SortKey,
  withId,
} from './store/filter.ts'
export { project } from './store/projection.ts'
export type { Fields, Projection, Read, ReadHints } from './store/records.ts'
export {
  type IdType,
  type ObjectShape,
  type Place,
  placeOf,
  type Shape,
  type StoredForm,
} from './store/shape.ts'
export type {
  Absence,
  AdoptedTable,
  Change,
  Collated,
  Collection,
  CollectionSchema,
  Copying,
  StepResult,
  Store,
  WriteAction,
  WriteOptions,
  WriteOutcome,
  WriteStep,
} from './store/store.ts'
export {
  AnchorGone,
  DuplicateKey,
  IndexConflict,
  InvalidPattern,
  QueryTooLong,
  RefusedWrite,
  StoreTimeout,
  StoreUnavailable,
} from './store/store-errors.ts'
export { fold } from './values/fold.ts'
