/**
 * `fieldgate`: create an app, declare models, mount routers, add authentication.
 *
 * @module
 */

export { type App, createApp, type Mounted } from './app/app.ts'
export type { Platform } from './app/context.ts'
export type { AppOptions } from './app/options.ts'
export type { OwnMail, OwnMails } from './auth/delivery/messages.ts'
export type { Duration } from './auth/option-checks.ts'
export type {
  CustomOptions,
  FacebookOptions,
  GithubOptions,
  IdTokenOptions,
  Profile,
  ProviderOptions,
  SocialOptions,
} from './auth/providers/provider.ts'
export type {
  Access,
  ClientOption,
  RouteName,
  SecurityEvent,
  SecurityEventType,
} from './auth/request-info.ts'
export { type AuthRouter, type AuthRoutes, type AuthUrl, createAuthRouter } from './auth/router.ts'
export { caseMapped } from './auth/setup/case-mapped.ts'
export type {
  Channel,
  CodeMessage,
  MailOptions,
  MailTemplate,
  MessagePurpose,
  NoticeKind,
  OtpOptions,
  SentMail,
  ShownUser,
  SmsOptions,
  TemplateValues,
} from './auth/setup/delivery-options.ts'
export { BadRecipient } from './auth/setup/delivery-options.ts'
export type { StoredName } from './auth/setup/field-names.ts'
export type { IdentifierOption } from './auth/setup/identifiers.ts'
export type { Method } from './auth/setup/method.ts'
export type {
  AuthOptions,
  CommonPasswords,
  EmailVerificationOptions,
  LegacyTokenOptions,
  LockoutOptions,
  MiddlewaresOption,
  PasswordCheckContext,
  PasswordOptions,
  PasswordVerdict,
  RefreshOptions,
  RolesOptions,
  TokenOptions,
  UserFieldsOptions,
} from './auth/setup/options.ts'
export { SecondStepRequired, type SignInStep } from './auth/setup/options.ts'
export type { AuthChoices, ServedAccounts } from './auth/setup/served.ts'
export { type UserFields, userFields } from './auth/setup/user-fields.ts'
export type { CacheOptions, RedisClient, Vary } from './cache/options.ts'
export { HttpError, type HttpErrorOptions, ValidationError } from './http/errors/errors.ts'
export type { ApiRequest, AuthContext, Query } from './http/request/request.ts'
export {
  type ErrorHandler,
  type ErrorHandlerOptions,
  errorHandler,
} from './http/response/error-handler.ts'
export type { Pagination } from './http/response/respond.ts'
export { type ChangesOption, defineModel, type ModelDefinition } from './model/define.ts'
export type {
  ByOutput,
  FieldName,
  Inputs,
  Managed,
  Model,
  RecordOf,
  SortName,
  TimestampNames,
  Timestamps,
  Values,
} from './model/model.ts'
export {
  type OnDelete,
  type Reference,
  type ReferenceOptions,
  ref,
} from './model/shape/reference.ts'
export type { CacheStore } from './ports/services/cache.ts'
export type {
  Acl,
  CallOptions,
  FileMeta,
  FileStore,
  Stage,
  StoredFile,
} from './ports/services/files.ts'
export type { Hasher } from './ports/services/hasher.ts'
export type { ImageOptimizer, OptimizationLevel, OptimizedType } from './ports/services/images.ts'
export type { Logger } from './ports/services/logger.ts'
export type { MailMessage, MailTransporter } from './ports/services/mailer.ts'
export type { ObservedRequest, Observer, StoreCall } from './ports/services/observer.ts'
export type { Fields } from './ports/store/records.ts'
export type { Collection, CollectionSchema, Store } from './ports/store/store.ts'
export type { AggregateQuery, GroupOf } from './records/engine/aggregate-query.ts'
export type { Condition, ConditionsOf } from './records/engine/conditions.ts'
export type {
  ExpandedRecord,
  FindOptions,
  ReferenceName,
  SearchOptions,
} from './records/engine/find-options.ts'
export { describeGuard, type GuardDescription } from './records/engine/guards.ts'
export type { Mountable } from './records/engine/host.ts'
export type { ScopeFilter, ScopeOption, ScopeValues } from './records/engine/models.ts'
export type {
  Collections,
  RecordCollection,
  RecordStore,
} from './records/engine/record-store.ts'
export type {
  Context,
  DescribedHandler,
  DescribedRequest,
  Guard,
  Handler,
  ResponseHook,
  Route,
  RouteDescription,
  Sendable,
} from './records/engine/route.ts'
export type {
  AddRoute,
  AddRoutes,
  ExtraRoute,
  ExtraRoutes,
  WithRoute,
} from './records/extra-routes.ts'
export { createRouter, type Router } from './records/router.ts'
export type { FieldsFor, ReadableNames } from './records/rules/fields-for.ts'
export type {
  AfterRemove,
  AfterUpdate,
  BeforeRemove,
  BeforeUpdate,
  Changes,
  HookResponse,
  OnGet,
  Payload,
  PendingUpdate,
  PopulateOption,
  ReadOptions,
  RunAfterCreate,
  Validate,
  ValidateContext,
  ValidateOption,
} from './records/rules/hooks.ts'
export type { ScopePair } from './records/rules/scope.ts'
export type { AccessOptions, RouteAccess } from './records/setup/access.ts'
export type { RouterOptions } from './records/setup/options.ts'
export type {
  NoSuchName,
  RouterChoices,
  RouterInput,
  ServedRecords,
} from './records/setup/served.ts'
export type { FileField, UploadOptions } from './uploads/options.ts'
export {
  type AppFiles,
  type FilePlace,
  type SweepOptions,
  type Swept,
  sweepFiles,
} from './uploads/sweep.ts'
