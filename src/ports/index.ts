/**
 * What you import from `fieldgate/ports` to write a store, a cache, a file store or an image optimiser: the ports with
 * their promises, the errors that fieldgate recognises, and helpers for what every adapter must do alike.
 * `fieldgate/contract` tests the result.
 *
 * @module
 */

export {
  type AggregateRead,
  type DatePart,
  type GroupKey,
  type GroupSort,
  type Measure,
  roundedMeasure,
} from './aggregate.ts'
export type { CacheStore } from './cache.ts'
export type {
  ChangeKind,
  ChangeLog,
  LoggedChange,
  LoggedModel,
  NotedChange,
  ReadChanges,
} from './changes.ts'
export type { Copyable, ForeignBatch, ForeignValue, WriteWatch } from './copying.ts'
export { type Declared, declaredAt, onlyDeclared, withDefaults } from './declared.ts'
export type { Exclusion } from './exclusion.ts'
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
} from './files.ts'
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
} from './filter.ts'
export { fold } from './fold.ts'
export type { Hasher } from './hasher.ts'
export { headerOf, type ImageHeader } from './image-header.ts'
export {
  type ImageOptimizer,
  type OptimizationLevel,
  type OptimizedType,
  TooManyPixels,
} from './images.ts'
export type { Logger, LogLine } from './logger.ts'
export type { MailMessage, MailTransporter } from './mailer.ts'
export type { ObservedRequest, Observer, StoreCall } from './observer.ts'
export { project } from './projection.ts'
export type { Fields, Projection, Read, ReadHints } from './records.ts'
export {
  type IdType,
  type ObjectShape,
  type Place,
  placeOf,
  type Shape,
  type StoredForm,
} from './shape.ts'
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
} from './store.ts'
export {
  AnchorGone,
  DuplicateKey,
  IndexConflict,
  InvalidPattern,
  QueryTooLong,
  RefusedWrite,
  StoreTimeout,
  StoreUnavailable,
} from './store-errors.ts'
export type { ForeignIndex, Surroundings } from './surroundings.ts'
