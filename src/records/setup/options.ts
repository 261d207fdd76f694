/**
 * The options of a resource router (spec 2.6): their names, defaults and start-up errors.
 *
 * @module
 */

import type { CacheOptions } from '../../cache/options.ts'
import type { FieldName, Model, SortName } from '../../model/model.ts'
import type { UploadOptions } from '../../uploads/options.ts'
import type { Guard } from '../engine/route.ts'
import type { OnGet, RunAfterCreate, ValidateOption } from '../rules/hooks.ts'
import type { ScopeOption } from '../rules/scope.ts'

/** Field names for both operations, or for each of them. */
export type FieldLists<R> =
  | readonly (keyof R & string)[]
  | {
      readonly create?: readonly (keyof R & string)[]
      readonly update?: readonly (keyof R & string)[]
    }

/** What `createRouter` takes. Every field is denied until a list names it. */
export interface RouterOptions<R> {
  /** The served model. */
  readonly model: Model<R>
  /** The default sort, `-` for descending. Default: none, `_id` alone. */
  readonly orderBy?: SortName<R> | readonly SortName<R>[]
  /** Fields usable for equality filters, but for those named like a parameter of lists, such as `sort`. Default: none. */
  readonly query?: readonly FieldName<R>[]
  /** Fields searched by `?s=`; `'ref.path'` searches the referenced model. Default: none. */
  readonly search?: readonly FieldName<R>[]
  /** Fields for range, compare and the QUERY filter. Default: `query`. */
  readonly filterableFields?: readonly FieldName<R>[]
  /** Fields for sort, each of one type. Default: those fields of `query` that have an order, and those of `orderBy`. */
  readonly sortableFields?: readonly FieldName<R>[]
  /** Writable fields. Default: every field of the model, with a start-up warning. */
  readonly allowedFields?: FieldLists<R>
  /** Never writable; wins over `allowedFields`. */
  readonly blockedFields?: FieldLists<R>
  readonly validate?: ValidateOption<R>
  readonly onGet?: OnGet
  readonly runAfterCreate?: RunAfterCreate<R>
  /** Whether a failing `runAfterCreate` is a 500. Default false. */
  readonly strictAfterCreate?: boolean
  /** Default `'offset'`. */
  readonly pagination?: 'offset' | 'cursor'
  /** How totals are counted. Default `'exact'`. */
  readonly countStrategy?: 'exact' | 'estimated' | 'none'
  /** The most records that any response returns. Default 100. */
  readonly maxLimit?: number
  /** The page size without `pageSize`. Default 50, or `maxLimit` where that is less. */
  readonly defaultPageSize?: number
  /** Deeper offset pages are a 400. Default: off. */
  readonly maxPage?: number
  /** Milliseconds that one query may take. Default: off. */
  readonly maxTimeMS?: number
  /** UTF-16 units that a search term may have. Default 128. */
  readonly maxSearchLength?: number
  /** The most ids that a search through one reference pulls. Default 1000. */
  readonly maxRelationMatches?: number
  /** The most distinct records that `populate` fills in, a response; further references stay ids. Default: that of `createApp`, 1000. */
  readonly maxPopulated?: number
  /** Bytes that the response to a read may have, beyond which it is a 413. Default: that of `createApp`, 32 MiB. */
  readonly maxResponseBytes?: number
  /** Whether search terms are regular expressions; for trusted callers only. Default false. */
  readonly allowRawRegex?: boolean
  /** Skips the model's `output`. Default false. */
  readonly lean?: boolean
  readonly allowDiskUse?: boolean
  readonly batchSize?: number
  /** Guards that run before every route of the router. Start-up warns where there are none, unless `[]` says so. */
  readonly middlewares?: readonly Guard[]
  /** Whether the QUERY route is there. Default true. */
  readonly enableQuery?: boolean
  /** @deprecated Restores what 2.x allowed, but for what leaks or loses data. Removed in 4.0. */
  readonly legacyMode?: boolean
  /** Keeps answers to reads; `true` for the defaults. Default: off, or on where `CACHE_ENABLED` says so. */
  readonly cache?: boolean | CacheOptions
  /** Takes files: POST and PATCH accept multipart/form-data. Default: off. */
  readonly upload?: UploadOptions<keyof R & string>
  /** Limits every route to the records that match the equalities it returns. Only undefined is no limit; `{}` is a 500. */
  readonly scope?: ScopeOption<R>
}
