/** The options of a resource router: their names, defaults and start-up errors. */

import type { CacheOptions } from '../../cache/options.ts'
import type { FieldName, Model, SortName } from '../../model/model.ts'
import type { Fail } from '../../model/option-rules.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { UploadOptions } from '../../uploads/options.ts'
import type { GroupName } from '../engine/aggregate-query.ts'
import type { Host } from '../engine/host.ts'
import type { ScopeOption } from '../engine/models.ts'
import type { Guard } from '../engine/route.ts'
import type { FieldsFor } from '../rules/fields-for.ts'
import type {
  AfterRemove,
  AfterUpdate,
  BeforeRemove,
  BeforeUpdate,
  OnGet,
  RunAfterCreate,
  ValidateOption,
} from '../rules/hooks.ts'
import type { ScopePair } from '../rules/scope.ts'
import type { AccessOptions } from './access.ts'
import type { AggregatesOption } from './aggregates.ts'

/** Field names for both operations, or for each of them. */
export type FieldLists<R> =
  | readonly (keyof R & string)[]
  | {
      readonly create?: readonly (keyof R & string)[]
      readonly update?: readonly (keyof R & string)[]
    }

/** Options of `createRouter`. Clients can't use a field until you list it. */
export interface RouterOptions<R> {
  /** The served model. */
  readonly model: Model<R>
  /** The default sort; `-` in front for descending. Default: by `_id`. */
  readonly orderBy?: SortName<R> | readonly SortName<R>[]
  /**
   * Fields for equality filters, e.g. `?country=CH`. A field named like a list parameter, such as `sort`, is not
   * allowed. Default: none.
   */
  readonly query?: readonly FieldName<R>[]
  /** Fields searched by `?s=`; `'ref.path'` searches the referenced model. Default: none. */
  readonly search?: readonly FieldName<R>[]
  /** Fields for range, compare and the QUERY filter. Default: `query`. */
  readonly filterableFields?: readonly FieldName<R>[]
  /** Fields for sort, each of one type. Default: the fields of `query` that have an order, and those of `orderBy`. */
  readonly sortableFields?: readonly FieldName<R>[]
  /**
   * References that clients may fill in by `expand`: `'country'`, and `'country.region'` for a reference inside the record
   * that it leads to. Default: none.
   */
  readonly expandable?: readonly FieldName<R>[]
  /**
   * The most records of a list that clients may download as one file, by `Accept: text/csv` or `application/x-ndjson`; a
   * longer list is a 413. Default 0: no files, a 406.
   */
  readonly exportLimit?: number
  /**
   * What a QUERY may group records by, and compute with: `{ by: ['country', 'createdAt:month'], of: ['population'] }`.
   * Default: nothing. Records can always be counted.
   */
  readonly aggregates?: AggregatesOption<GroupName<R>, FieldName<R>>
  /** Fields that clients may write. Default: every field of the model, with a start-up warning. */
  readonly allowedFields?: FieldLists<R>
  /** Fields that clients may never write; wins over `allowedFields`. */
  readonly blockedFields?: FieldLists<R>
  /** Checks or changes the writable part of a body before the schema does. */
  readonly validate?: ValidateOption<R>
  /** Chooses per request which fields a read returns and which references it fills in. */
  readonly onGet?: OnGet<R>
  /** Runs after a create and before its response, e.g. to send a mail. */
  readonly runAfterCreate?: RunAfterCreate<R>
  /** Whether a failing `runAfterCreate` is a 500. Default false: it is only logged. */
  readonly strictAfterCreate?: boolean
  /**
   * Judges a PATCH by the stored record, and may change what is written. The write happens only if the record is still
   * the one that it saw.
   */
  readonly beforeUpdate?: BeforeUpdate<R>
  /** Runs after a PATCH and before its response; a failure is logged. */
  readonly afterUpdate?: AfterUpdate<R>
  /** Judges a DELETE by the stored record, which is removed only if it is still the one that the hook saw. */
  readonly beforeRemove?: BeforeRemove<R>
  /** Runs after a DELETE and before its response; a failure is logged. */
  readonly afterRemove?: AfterRemove<R>
  /** Pages by number or by cursor. Default `'offset'`. */
  readonly pagination?: 'offset' | 'cursor'
  /** How totals are counted; `'none'` returns `hasMore` instead of totals. Default `'exact'`. */
  readonly countStrategy?: 'exact' | 'estimated' | 'none'
  /** The most records in any response. Default 100. */
  readonly maxLimit?: number
  /** The page size without `pageSize`. Default 50, or `maxLimit` if that is less. */
  readonly defaultPageSize?: number
  /** The highest page number; a higher one is a 400. Default: off. */
  readonly maxPage?: number
  /** The time limit of one query, in milliseconds. Default: off. */
  readonly maxTimeMS?: number
  /** The longest search term, in UTF-16 units; a longer one is a 400. Default 128. */
  readonly maxSearchLength?: number
  /** The most ids that a search through one reference loads. Default 1000. */
  readonly maxRelationMatches?: number
  /**
   * The most distinct records that `populate` fills in per response; further references stay ids. Default: that of
   * `createApp`, 1000.
   */
  readonly maxPopulated?: number
  /** The most bytes in the response to a read; a larger one becomes a 413. Default: that of `createApp`, 32 MiB. */
  readonly maxResponseBytes?: number
  /** Whether search terms are regular expressions; only for trusted callers. Default false. */
  readonly allowRawRegex?: boolean
  /** Skips the model's `output`. Default false. */
  readonly lean?: boolean
  /** Lets MongoDB sort on disk. Other stores ignore it. Default: the database's. */
  readonly allowDiskUse?: boolean
  /** Records per round trip to MongoDB. Other stores ignore it. Default: the driver's. */
  readonly batchSize?: number
  /** Guards that run before every route of the router. Without any, start-up logs a warning; pass `[]` to confirm it. */
  readonly middlewares?: readonly Guard[]
  /**
   * Which of its routes the router has, and the guards of each, which run after `middlewares`. Default: all, without
   * guards of their own.
   */
  readonly access?: AccessOptions
  /**
   * Whether clients may read what happened to a record, at GET `/:id/history`. The model needs `changes`. With
   * `access: { restore: … }` they may also make it what it was, at POST `/:id/restore`. Default false.
   */
  readonly history?: boolean
  /**
   * Whether clients may follow the list: a GET or QUERY with `Accept: text/event-stream` gets the records, and then each
   * change of the list as it happens. The model needs `changes`. Default false.
   */
  readonly live?: boolean
  /** Whether the router has the QUERY route; false is the same as `{ query: false }`. Default true. */
  readonly enableQuery?: boolean
  /**
   * Whether a POST with the header `X-HTTP-Method-Override: QUERY` is a QUERY, for clients behind proxies that refuse
   * QUERY. Default: `methodOverride` of `createApp`, which is false: a POST with that header is a 405.
   */
  readonly methodOverride?: boolean
  /** @deprecated Restores what 2.x allowed, except what leaks or loses data. Removed in 4.0. */
  readonly legacyMode?: boolean
  /** Caches responses to reads; `true` for the defaults. Default: off, or on if the variable `CACHE_ENABLED` says so. */
  readonly cache?: boolean | CacheOptions
  /** Takes files: POST and PATCH accept multipart/form-data. Default: off. */
  readonly upload?: UploadOptions<keyof R & string>
  /**
   * Limits every route to the records that match the equalities it returns; or limits reads and writes, each by a
   * function. Only undefined means no limit; `{}` is a 500.
   */
  readonly scope?: ScopeOption<R> | ScopePair<R>
  /**
   * A reference to the accounts of an auth router, as `ref('User')`: only signed-in users pass, and each reaches only the
   * records whose reference is their own. It is set when they create one, and clients can't write it. Instead of `scope`
   * and `requireAuth`.
   */
  readonly ownedBy?: keyof R & string
  /**
   * Names the fields that a request may see, filter, sort and search by. Undefined means all visible fields; an unknown
   * name is a 500. It does not concern what may be written.
   */
  readonly fieldsFor?: FieldsFor<R>
}

/** A router whose options are resolved. */
export interface Setup {
  readonly host: Host
  readonly mount: string
  readonly options: RouterOptions<Fields>
  readonly fail: Fail
}
