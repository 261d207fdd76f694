/**
 * What a router's type remembers of its options, for clients that are checked against it. Nothing of it exists at run
 * time.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import type { FieldName, SortName } from '../../model/model.ts'
import type { UploadOptions } from '../../uploads/options.ts'
import type { ReadOptions } from '../rules/hooks.ts'
import type { AccessOptions } from './access.ts'
import type { FieldLists } from './options.ts'

/** The records that a router serves: those of the type `R`, with writes of the type `I`, in the way of `O`; `H` are hidden fields. */
export interface ServedRecords<R, I, H, O> {
  readonly serves: 'records'
  readonly record: R
  readonly input: I
  readonly hidden: H
  readonly options: O
}

/** The options of a router that a client has to know, each as it was written. */
export interface Choices<Q, F, S, O, X, A, B, U, P, C, G, L> {
  readonly query: Q
  readonly filterableFields: F
  readonly sortableFields: S
  readonly orderBy: O
  readonly search: X
  readonly allowedFields: A
  readonly blockedFields: B
  readonly upload: U
  readonly pagination: P
  readonly countStrategy: C
  readonly shown: G
  /** What the scope of writes returns. */
  readonly scope: L
}

/**
 * What few routers have: `access`, or another scope for reads than for writes. The types of the others are without it, so
 * that the compiler has less to look at.
 */
export type Rare<D, E> = [unknown, undefined] extends [D, E]
  ? unknown
  : { readonly rare: { readonly readScope: D; readonly access: E } }

/**
 * The same options, typed so that the compiler infers each from what is written. The alternatives are for calls with
 * type arguments, `createRouter<R>(…)`, which infer nothing.
 */
export interface Chosen<R, Q, F, S, O, X, A, B, U, P, C, G, E> {
  readonly query?: Q | Names<R>
  readonly filterableFields?: F | Names<R>
  readonly sortableFields?: S | Names<R>
  readonly orderBy?: O | Order<R>
  readonly search?: X | Names<R>
  readonly allowedFields?: A | FieldLists<R>
  readonly blockedFields?: B | FieldLists<R>
  readonly upload?: U | UploadOptions<keyof R & string>
  readonly pagination?: P | 'offset' | 'cursor'
  readonly countStrategy?: C | 'exact' | 'estimated' | 'none'
  readonly access?: E | AccessOptions
  readonly onGet?: (request: ApiRequest) => Shown<G> | Promise<Shown<G>>
}

/** What `onGet` returns, or less: a router with `fieldsFor`, which returns `V`, may leave fields out as `select` does. */
export type ShownTo<V, G> = [V] extends [never]
  ? G
  : (G extends object ? G : unknown) & { readonly select: unknown }

type Shown<G> = G | ReadOptions | undefined | void

/** A list of fields. */
export type Names<R> = readonly FieldName<R>[]

/** A default sort. */
export type Order<R> = SortName<R> | readonly SortName<R>[]
