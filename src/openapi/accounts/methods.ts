/** The routes of the methods of an auth router, by what each says of itself. */

import type { Auth } from '../../auth/instance/instance.ts'
import { identifierRequired } from '../../auth/refusals.ts'
import type { MethodRoute, OpenMethod } from '../../auth/setup/method.ts'
import type { HttpError } from '../../http/errors/errors.ts'
import { capitalised, type Schemas } from '../schemas/named-schemas.ts'
import { queryParameters } from '../schemas/others.ts'
import type { RouteSketch } from '../schemas/responses.ts'
import { converted, object, TEXT } from '../schemas/schemas.ts'
import type { Schema } from '../specification.ts'
import { loginBody, SECONDS } from './users.ts'

/** What a method says of its route. One that signs in responds as `login` does; `opening` is what refuses any sign-in. */
export function methodSketch(
  route: MethodRoute,
  schemas: Schemas,
  auth: Auth,
  login: RouteSketch,
  opening: readonly HttpError[],
): RouteSketch {
  const { name, summary, body, query, response, signsIn, status, refusals = [] } = route
  if (name === 'confirmLogin') {
    const { message } = identifierRequired()
    // It takes what a sign-in takes, of the user whom the token names, and gives a token where there are no sessions.
    return {
      summary,
      isOpen: login.isOpen,
      body: loginBody(auth, schemas, true),
      ...(!auth.refresh && { data: object({ token: TEXT, expiresIn: SECONDS }) }),
      refusals: login.refusals?.filter((error) => error.message !== message) ?? [],
    }
  }
  const called = capitalised(name)
  const choices = choicesOf(name, auth.methods)
  return {
    summary,
    path: choices,
    ...(body && { body: schemas.add(`${called}Body`, converted(body, 'input')) }),
    ...(query && {
      parameters: queryParameters(query).map((parameter) => ({
        ...parameter,
        schema: choices[parameter.name] ?? parameter.schema,
      })),
    }),
    ...(response && { data: schemas.add(called, converted(response, 'input')) }),
    ...(signsIn && { data: login.data, isOpen: login.isOpen }),
    ...(status && { status }),
    refusals: signsIn ? [...refusals, ...opening] : refusals,
  }
}

/** The values that parameters of a route are limited to, by all methods together. */
function choicesOf(
  route: string,
  methods: readonly OpenMethod[],
): Readonly<Record<string, Schema>> {
  const all = methods.flatMap(({ choices }) => Object.entries(choices?.[route] ?? {}))
  const schemas = [...Map.groupBy(all, ([name]) => name)].map(([name, entries]) => {
    const values = new Set(entries.flatMap(([, some]) => some))
    return [name, { type: 'string', enum: [...values] }] as const
  })
  return Object.fromEntries(schemas)
}
