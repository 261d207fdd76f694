/** The routes of the methods of an auth router, by what each says of itself. */

import type { Auth } from '../../auth/instance/instance.ts'
import { identifierRequired } from '../../auth/refusals.ts'
import type { MethodRoute, OpenMethod } from '../../auth/setup/method.ts'
import type { HttpError } from '../../http/errors/errors.ts'
import { capitalised, type Schemas } from '../schemas/named-schemas.ts'
import { queryParameters } from '../schemas/others.ts'
import type { RouteSketch } from '../schemas/responses.ts'
import { converted } from '../schemas/schemas.ts'
import { object } from '../schemas/shown.ts'
import type { Schema } from '../specification.ts'
import { loginBody, SECONDS } from './users.ts'

/**
 * What a method says of its route; one that signs in responds as `login` does, and is refused besides by what refuses any
 * sign-in, `opening`.
 */
export function methodSketch(
  route: MethodRoute,
  schemas: Schemas,
  auth: Auth,
  login: RouteSketch,
  opening: readonly HttpError[],
): RouteSketch {
  const { name, summary, body, query, response, signsIn, status, refusals = [] } = route
  if (name === 'confirmLogin') return confirmSketch(route, schemas, auth, login)
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

/** A confirmation takes what a sign-in takes, of the user whom the token names, and gives a token where there are no sessions. */
function confirmSketch(
  { summary }: MethodRoute,
  schemas: Schemas,
  auth: Auth,
  login: RouteSketch,
): RouteSketch {
  const { refusals = [], isOpen = false } = login
  const { message } = identifierRequired()
  return {
    summary,
    isOpen,
    body: loginBody(auth, schemas, true),
    ...(!auth.refresh && { data: object({ token: { type: 'string' }, expiresIn: SECONDS }) }),
    refusals: refusals.filter((error) => error.message !== message),
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
