/**
 * The routes of the methods of an auth router, by what each says of itself.
 *
 * @module
 */

import type { MethodRoute } from '../auth/setup/method.ts'
import type { RouteSketch } from './accounts.ts'
import type { Schemas } from './named-schemas.ts'
import { capitalised } from './names.ts'
import { converted } from './schemas.ts'
import type { Schema } from './specification.ts'

/** What a method says of its route; a confirmation takes what `POST /login` takes. */
export function methodSketch(
  { name, summary, body, query, response, signsIn, status, refusals }: MethodRoute,
  schemas: Schemas,
  suffix: string,
  { login, signIn }: { readonly login: Schema; signIn(): Schema },
): RouteSketch {
  const called = capitalised(name)
  return {
    summary,
    ...(name === 'confirmLogin' && { body: login }),
    ...(body && { body: schemas.add(`${called}Body`, converted(body, 'input'), suffix) }),
    ...(query && { query }),
    ...(response && { data: schemas.add(called, converted(response, 'input'), suffix) }),
    ...(signsIn && { data: signIn() }),
    ...(status && { status }),
    ...(refusals && { refusals }),
  }
}
