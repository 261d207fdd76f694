/** The routes of the methods of an auth router, by what each says of itself. */

import type { MethodRoute, OpenMethod } from '../auth/setup/method.ts'
import { capitalised, type Schemas } from './named-schemas.ts'
import { queryParameters } from './others.ts'
import type { RouteSketch } from './responses.ts'
import { converted } from './schemas.ts'
import type { Schema } from './specification.ts'

/** What routes of methods share with those of accounts. */
interface Accounts {
  readonly login: Schema
  readonly methods: readonly OpenMethod[]
  signIn(): Schema
}

/** What a method says of its route; a confirmation takes what `POST /login` takes. */
export function methodSketch(
  { name, summary, body, query, response, signsIn, status, refusals }: MethodRoute,
  schemas: Schemas,
  { login, signIn, methods }: Accounts,
): RouteSketch {
  const called = capitalised(name)
  const choices = choicesOf(name, methods)
  return {
    summary,
    path: choices,
    ...(name === 'confirmLogin' && { body: login }),
    ...(body && { body: schemas.add(`${called}Body`, converted(body, 'input')) }),
    ...(query && {
      parameters: queryParameters(query).map((parameter) => ({
        ...parameter,
        schema: choices[parameter.name] ?? parameter.schema,
      })),
    }),
    ...(response && { data: schemas.add(called, converted(response, 'input')) }),
    ...(signsIn && { data: signIn() }),
    ...(status && { status }),
    ...(refusals && { refusals }),
  }
}

/** The values that parameters of a route are limited to, by all methods together. */
function choicesOf(
  route: string,
  methods: readonly OpenMethod[],
): Readonly<Record<string, Schema>> {
  const found = new Map<string, string[]>()
  for (const { choices } of methods) {
    for (const [name, values] of Object.entries(choices?.[route] ?? {})) {
      found.set(name, [...(found.get(name) ?? []), ...values])
    }
  }
  return Object.fromEntries(
    [...found].map(([name, values]) => [name, { type: 'string', enum: [...new Set(values)] }]),
  )
}
