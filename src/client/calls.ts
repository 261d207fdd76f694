/**
 * `call`: the routes of your own that a router or the app has.
 *
 * @module
 */

import type { ExtraRoute } from '../records/extra-routes.ts'
import { json } from './answers.ts'
import { inPath } from './paths.ts'
import { bodyOf, type CreateOptions } from './records.ts'
import type { Result } from './results.ts'
import type { Sending } from './sending.ts'
import type { Sent, Wire } from './shapes.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'QUERY' | 'OPTIONS'

/** The extra routes that the type of a mount knows. */
type Known<T> = T extends { readonly routes: infer E } ? E : unknown
/** Their names; any, if it knows none. */
type Name<T> = unknown extends Known<T> ? `${Method} /${string}` : keyof Known<T> & string
type Route<T, N> =
  Known<T> extends { readonly [K in N & string]: infer E extends ExtraRoute } ? E : ExtraRoute

/** The parameters that a path has, as in `/:id/book`. */
type InPath<Path> = Path extends `${string}:${infer Rest}`
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

interface AnyOptions extends CreateOptions {
  readonly params?: object
  readonly query?: object
  readonly body?: object
}

/** The function `call` of the mount at `at`. */
export function extraCalls(at: string, send: Sending): object {
  return {
    async call(
      route: string,
      { params, query, body, headers, idempotencyKey, ...options }: AnyOptions = {},
    ) {
      const [method = '', pattern = ''] = route.split(' ')
      const values = asWritten(params)
      // One that may have several parts keeps its slashes; what `*` stands for is `rest`.
      const path = pattern.replace(
        /\/(?::(\w+)([?+]?)|\*|$)/g,
        (whole, name = 'rest', mark = '+') => {
          const value = values[name]
          if (whole === '/' || (value === undefined && mark === '?')) return ''
          return `/${(mark === '+' ? `${value}`.split('/') : [value]).map(inPath).join('/')}`
        },
      )
      const answer = await send.call().ask({
        ...{
          ...options,
          method,
          path: at + path + searchOf(query),
          body: body === undefined ? body : bodyOf(body as never),
        },
        headers: { ...headers, 'Idempotency-Key': idempotencyKey },
      })
      const { body: isOurs, status, text } = answer
      if (isOurs || status < 200 || status > 299) return send.shown(answer)
      // Routes of your own may send anything.
      return { ok: true, data: await new Response(text).json().catch(() => text) }
    },
  }
}

/** Parameters of the URL: a list is sent as one for each of its values. */
function searchOf(query: object | undefined): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(asWritten(query))) {
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, one)
  }
  const text = `${search}`
  return text && `?${text}`
}

/** Values as JSON has them: dates are strings. */
function asWritten(values: object = {}): Readonly<Record<string, unknown>> {
  return JSON.parse(json(values))
}
