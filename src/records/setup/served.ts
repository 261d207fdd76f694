/**
 * What a router's type remembers of its options, for clients that are checked against it, and what the compiler says of
 * names that are none. Nothing of it exists at run time.
 */

import type { Managed, Model } from '../../model/model.ts'
import type { AccessOptions } from './access.ts'
import type { RouterOptions } from './options.ts'

/** The records that a router serves: those of the type `R`, with writes of the type `I`, under the options `O`; `H` are hidden fields. */
export interface ServedRecords<R, I, H, O> {
  readonly serves: 'records'
  readonly record: R
  readonly input: I
  readonly hidden: H
  /** Those that a client has to know, each as it was written. */
  readonly options: O
}

/** What `onGet` returns, or less: `fieldsFor` may leave fields out as `select` does. */
export type ShownBy<O> = 'fieldsFor' extends keyof O
  ? Returned<O> & { readonly select: unknown }
  : Returned<O>

type Returned<O> = 'onGet' extends keyof O ? Awaited<Result<O['onGet']>> : unknown

/** What the scope of writes returns. */
export type ScopeOf<O> = 'scope' extends keyof O
  ? Result<'write' extends keyof O['scope'] ? O['scope']['write'] : O['scope']>
  : unknown

/**
 * The member of an option as it was written. Before TypeScript 6, such an object extends no type that names some of its
 * members alone: it counts as a literal with members that are not known.
 */
export type Member<S, Key> = Key extends keyof S ? S[Key] : never

/** What a function returns. */
export type Result<F> = F extends (...given: never) => infer V ? V : unknown

/** The options that are remembered as lists of names, and the like. */
type Listed =
  | 'query'
  | 'filterableFields'
  | 'sortableFields'
  | 'expandable'
  | 'exportLimit'
  | 'live'
  | 'history'
  | 'aggregates'
  | 'orderBy'
  | 'search'
  | 'allowedFields'
  | 'blockedFields'
  | 'upload'
  | 'ownedBy'
  | 'pagination'
  | 'countStrategy'

/** Those that hold functions: the compiler cannot compare these before it has typed their parameters. */
type Calling = 'onGet' | 'scope' | 'fieldsFor' | 'access'

/** The options of a router of records `R` of which its type remembers what was written. */
export type RouterChoices<R> = Pick<Partial<RouterOptions<R>>, Listed> & {
  readonly [Name in Calling]?: unknown
}

/** The options of `createRouter` for a model: those of `RouterOptions`, with `O` as they were written. */
export type RouterInput<R, I, H, O> = RouterOptions<R> & {
  readonly model: Model<R, I, H>
} & {
  readonly [Name in keyof O & (Listed | Calling)]?: O[Name]
} & (O extends { readonly scope: infer S } ? OwnScope<R, S> : unknown) &
  (O extends { readonly access: infer E }
    ? { readonly access?: Refused<Exclude<keyof E, keyof AccessOptions>, keyof AccessOptions> }
    : unknown)

/** A name that is none, with those that there are: the compiler shows it for a misspelt field or route. */
export interface NoSuchName<Name, Names> {
  readonly 'no such name': Name
  readonly 'there are': Names
}

type Refused<Wrong, Names> = { readonly [Name in Wrong & string]?: NoSuchName<Name, Names> }

/** Refuses a scope that names other fields than those of `R`: the compiler has no care for what functions return besides. */
type OwnScope<R, S> = [WrongIn<R, S>] extends [never]
  ? unknown
  : NoSuchName<
      WrongIn<R, S>,
      Exclude<keyof S, 'read' | 'write'> extends never
        ? (keyof R & string) | keyof Managed
        : 'read' | 'write'
    >

type WrongIn<R, S> = S extends (...given: never) => infer L
  ? unknown extends L
    ? never
    : Exclude<ScopedNames<L>, keyof R | keyof Managed | 'or'>
  : { [K in keyof S]: K extends 'read' | 'write' ? WrongIn<R, S[K]> : K }[keyof S]

/** The names of all members of a union. */
type NamesIn<M> = M extends unknown ? keyof M : never

/** The fields that the scope `L` names, in whatever alternative. */
export type ScopedNames<L> =
  Exclude<Awaited<L>, undefined | void> extends infer E
    ? E extends { readonly or: readonly (infer M)[] }
      ? NamesIn<M>
      : keyof E
    : never
