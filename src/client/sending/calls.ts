/** `call`: the routes of your own that a router or the app has. */

import type { ExtraRoute } from '../../records/extra-routes.ts'
import type { Sent, Wire } from '../shapes.ts'
import type { CreateOptions } from './call-options.ts'
import type { Result } from './results.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'QUERY' | 'OPTIONS'

/** The extra routes that the type of a mount knows. */
type Known<T> = T extends { readonly routes: infer E } ? E : unknown
/** Their names; any, if it knows none. */
type Name<T> = unknown extends Known<T> ? `${Method} /${string}` : keyof Known<T> & string
type Route<T, N> =
  Known<T> extends { readonly [K in N & string]: infer E extends ExtraRoute } ? E : ExtraRoute

/** The parameters that a path has, as in `/:id/book`. */
export type InPath<Path> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Own}/${infer More}`
    ? OneIn<Own> & InPath<`/${More}`>
    : OneIn<Rest>
  : unknown
type OneIn<N extends string> = N extends `${infer Bare}?`
  ? { readonly [K in Bare]?: string | number }
  : N extends `${infer Bare}+`
    ? { readonly [K in Bare]: string }
    : { readonly [K in N]: string | number }

/** What is sent as a part of the request: by its schema, or `Else`. */
type Part<S, Else> = S extends { readonly _zod: { readonly input: infer I } } ? Sent<I> : Else
/** A member, which may be left out if nothing in it is needed. */
type Member<Key extends string, V> =
  Record<never, never> extends V ? { readonly [K in Key]?: V } : { readonly [K in Key]: V }

type Given<N, E extends ExtraRoute> = CreateOptions &
  Member<
    'params',
    Part<E['params'], string extends N ? Readonly<Record<string, string | number>> : InPath<N>>
  > &
  Member<'query', Part<E['query'], Readonly<Record<string, unknown>>>> &
  Member<'body', Part<E['body'], unknown>>

/** What a call of an extra route resolves to. A handler that returns Responses alone describes whole ones. */
type Data<E extends ExtraRoute> = E extends {
  readonly response: { readonly _zod: { readonly input: infer I; readonly output: infer O } }
}
  ? IsWhole<E['returns']> extends true
    ? DataIn<Wire<I>>
    : Wire<O>
  : unknown
type IsWhole<V> = [Exclude<V, undefined | void>] extends [Response] ? true : false
type DataIn<W> = W extends { readonly data: infer D } ? D : W

/** Options that may be left out if nothing in them is needed. */
type Options<G> = Record<never, never> extends G ? [options?: G] : [options: G]

/**
 * Calls an extra route by its method and path, as in `'POST /:id/book'`. `params` are the parameters of the path, `query`
 * those of the URL. What they are, and what comes back, is what the route's description says; without one, the data is
 * `unknown`.
 */
export type CallRoute<T> = <N extends Name<T>>(
  route: N,
  ...options: Options<Given<NoInfer<N>, Route<T, N>>>
) => Promise<Result<Data<Route<T, N>>>>

/** The calls for the extra routes of a mount that serves nothing else that a client knows. */
export interface ExtraCalls<T> {
  readonly call: CallRoute<T>
}

export interface AnyOptions extends CreateOptions {
  readonly params?: object
  readonly query?: object
  readonly body?: object
}
