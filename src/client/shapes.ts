/** What records look like on the wire: what a client reads, and what it may write. */

import type { ByOutput } from '../model/model.ts'
import type { Head, Inside, Filled as With } from '../records/engine/find-options.ts'
import type {
  Member,
  Result,
  ScopedNames,
  ScopeOf,
  ServedRecords,
  ShownBy,
} from '../records/setup/served.ts'

type Primitive = string | number | boolean | null | undefined

// Most values are primitives, so they come first; `unknown` is none of these and comes last. Of tuples, which have a '0',
// `keyof` maps the elements alone; those of a list it would map at once, which has no end for `z.json()`, a list of its own
// type, and one with a brand would be no list any more.
/** A value as JSON carries it: dates are ISO 8601 strings. */
export type Wire<V> = V extends Primitive
  ? V
  : V extends Date
    ? string
    : V extends (infer E)[]
      ? '0' extends keyof V
        ? { [K in keyof V]: Wire<V[K]> }
        : Wire<E>[]
      : V extends object
        ? { [K in keyof V]: Wire<V[K]> }
        : V

/** A value that a client may send: a date may be a `Date`. */
export type Sent<V> = V extends Primitive
  ? V
  : V extends Date
    ? Date | string
    : V extends (infer E)[]
      ? '0' extends keyof V
        ? { readonly [K in keyof V]: Sent<V[K]> }
        : readonly Sent<E>[]
      : V extends object
        ? { readonly [K in keyof V]: Sent<V[K]> }
        : V

/** The members that the server adds to each record. */
export interface Added {
  readonly _id: string
  readonly createdAt?: string
  readonly updatedAt?: string
}

/** A referenced record that `onGet` has filled in. */
export interface Populated {
  readonly _id: string
  readonly [field: string]: unknown
}

/** Any router of records. */
// biome-ignore lint/suspicious/noExplicitAny: every router is meant, whatever its types are
export type AnyRecords = ServedRecords<any, any, any, any>

/** `V`, if the router has the option; else what the compiler says of it. */
export type Having<
  T extends AnyRecords,
  Option extends string,
  V,
> = Option extends keyof T['options'] ? V : NoSuchOption<Option>

/** The router lacks an option without which a call is refused. */
export interface NoSuchOption<Option> {
  readonly 'the router has no option': Option
}

export type Element<L> = L extends readonly (infer E)[] ? E : L
type PathOf<P> = P extends { readonly path: infer N } ? N : P

/** The references that `onGet` fills in. */
type Filled<G> = G extends { readonly populate: infer P } ? PathOf<Element<P>> : never
/** Whether `onGet` may leave fields out. */
type Selects<G> = G extends { readonly select: unknown } ? true : never

// Most models hide no part of a field, and most routers fill in nothing.
type Fields<R, H, G> = [Filled<G>] extends [never]
  ? { [K in keyof R as K extends H ? never : K]: Seen<R[K], Inside<H, K>> }
  : {
      [K in keyof R as K extends H ? never : K]: K extends Head<Filled<G>>
        ? With<Seen<R[K], Inside<H, K>>, Inside<Filled<G>, K>, string>
        : Seen<R[K], Inside<H, K>>
    }
/** A value without the hidden members at the paths `H`. */
type Seen<V, H> = [H] extends [never]
  ? Wire<V>
  : V extends readonly (infer E)[]
    ? Seen<E, H>[]
    : V extends Primitive | Date
      ? Wire<V>
      : { [K in keyof V as K extends H ? never : K]: Seen<V[K], Inside<H, K>> }
/** The times that the model keeps, which every response has. */
type Stamped<H> = {
  readonly [M in H & string as M extends `+${infer N}` ? (N extends H ? never : N) : never]: string
}
type Whole<R, H, G> = [Selects<G>] extends [never]
  ? Fields<R, H, G> & Stamped<H>
  : Partial<Fields<R, H, G>>

/** The hidden fields; a model whose type was written down by hand tells of none. */
type Hidden<H> = unknown extends H ? never : H
type ShownAs<R, H, G> = ByOutput extends H ? Populated : Added & Whole<R, H, G>

/** A record as the routes of `T` show it. References are ids, unless `onGet` fills them in. */
export type Shown<T extends AnyRecords> = ShownAs<
  T['record'],
  Hidden<T['hidden']>,
  ShownBy<T['options']>
>

/** A record that was just written, or its id alone if the router's scope of reads may exclude it. */
export type Written<T extends AnyRecords> = WrittenBy<
  T,
  Member<Member<T['options'], 'scope'>, 'read'>
>
type WrittenBy<T extends AnyRecords, S> = [S] extends [never]
  ? Shown<T>
  : Awaited<Result<S>> extends undefined | void
    ? Shown<T>
    : Shown<T> | Pick<Added, '_id'>

/** The part of `R` that a client chose: the fields in `select`, or all without it, with the references in `expand` filled in. */
export type Chosen<R, C> = ChosenBy<R, NamesIn<C, 'select'>, NamesIn<C, 'expand'>>

/** The names in a list that `C` has under `Key`. */
export type NamesIn<C, Key extends string> = C extends unknown
  ? NamesOf<Member<C, Key>, never>
  : never
type NamesOf<L, None> = L extends readonly (infer N)[] ? N : None
/** The same by the names of the fields and the references. */
export type ChosenBy<R, S, E> = [S, E] extends [never, never]
  ? R
  : {
      [K in keyof R as K extends Kept<S, E> ? K : never]: K extends Head<E>
        ? With<R[K], Inside<E, K>, string>
        : [S] extends [never]
          ? R[K]
          : PartOf<R[K], S, K>
    }

type Kept<S, E> = [S] extends [never] ? PropertyKey : Head<S> | Head<E> | '_id'
type PartOf<V, S, K> = K extends S | '_id' ? V : Narrowed<V, Inside<S, K>>
type Narrowed<V, S> = V extends readonly (infer E)[]
  ? Narrowed<E, S>[]
  : V extends object
    ? { [K in keyof V as K extends Head<S> ? K : never]: PartOf<V[K], S, K> }
    : V
/** The calls for each route that a router may leave out. */
interface Calls {
  readonly list: 'list' | 'pages' | 'all' | 'export' | 'live'
  readonly query: 'aggregate'
  readonly read: 'get'
  readonly create: 'create'
  readonly update: 'update'
  readonly remove: 'remove'
  readonly history: 'history'
  readonly restore: 'restore'
}

/** The calls for the routes that the router does not serve. */
export type ClosedCalls<T extends AnyRecords> = T['options'] extends { readonly access: infer E }
  ? { [K in keyof E & keyof Calls]: E[K] extends false ? Calls[K] : never }[keyof E & keyof Calls]
  : never

type Named<L, Operation extends string, None> = Operation extends keyof L
  ? NamesOf<L[Operation], None>
  : NamesOf<L, None>
/** The fields that the scope of writes names. */
type Scoped<L> = unknown extends L ? never : ScopedNames<L>

type Writable<R, O, Operation extends string> = Exclude<
  'allowedFields' extends keyof O ? Named<O['allowedFields'], Operation, keyof R> : keyof R,
  | ('blockedFields' extends keyof O ? Named<O['blockedFields'], Operation, never> : never)
  | ('scope' extends keyof O ? Scoped<ScopeOf<O>> : never)
  | ('ownedBy' extends keyof O ? O['ownedBy'] : never)
>

/** The fields that take files. */
type FileFields<O> = 'upload' extends keyof O
  ? 'fields' extends keyof O['upload']
    ? Member<Element<O['upload']['fields']>, 'name'>
    : 'file'
  : never
/** A file of the device, where `FormData` is that of React Native. */
type NativeFile = FormData extends { getParts(): unknown }
  ? { readonly uri: string; readonly name?: string; readonly type: string }
  : never
type AnyFile = Blob | NativeFile
type FileValue<V> =
  NonNullable<V> extends readonly unknown[] ? AnyFile | readonly AnyFile[] : AnyFile

type Inputs<T extends AnyRecords> = unknown extends T['input'] ? T['record'] : T['input']
/** A value to be written: null stands for an optional field that is left out, or removed. */
type SentOrNull<V> = undefined extends V ? Sent<V> | null : Sent<V>
type OrFile<V, K, F> = K extends F ? FileValue<V> : never

// `Pick` first: it keeps which fields are optional, and is much faster than leaving fields out one by one.
type Creatable<I, F> = [F] extends [never]
  ? { readonly [N in keyof I]: SentOrNull<I[N]> }
  : { readonly [N in keyof I]: SentOrNull<I[N]> | OrFile<I[N], N, F> }

type Changeable<I, F> = [F] extends [never]
  ? { readonly [N in keyof I]?: SentOrNull<I[N]> }
  : Partial<Creatable<I, F>>

type PartOfInputs<T extends AnyRecords, Operation extends string, I = Inputs<T>> = Pick<
  I,
  Writable<T['record'], T['options'], Operation> & keyof I
>

/** What a create takes: the writable fields, in which null leaves an optional one out. */
export type Created<T extends AnyRecords> = Creatable<
  PartOfInputs<T, 'create'>,
  FileFields<T['options']>
>

/** What an update takes: any of the writable fields; null removes an optional one. */
export type Changes<T extends AnyRecords> = Changeable<
  PartOfInputs<T, 'update'>,
  FileFields<T['options']>
>
