/**
 * The hook `onLogin`, which may refuse a sign-in or ask for a second step.
 *
 * @module
 */

import { inTime } from '../../http/deadline.ts'
import { HttpError } from '../../http/errors.ts'
import type { ApiRequest } from '../../http/request.ts'
import type { Fields } from '../../ports/store.ts'
import type { AuthSettings } from '../setup/settings.ts'
import { SecondStepRequired, type SignInStep } from '../setup/sign-in-step.ts'
import type { Users } from '../users/users.ts'

/** Returns the second step that the hook asks for; anything else that it throws refuses the sign-in. */
export async function runOnLogin(
  { users, settings }: { readonly users: Users; readonly settings: AuthSettings },
  user: Fields,
  request: ApiRequest,
  step: SignInStep = {},
): Promise<SecondStepRequired | undefined> {
  const { onLogin } = settings
  if (!onLogin) return undefined
  try {
    await inTime(request, () => onLogin(users.withoutSecrets(user) as never, request, step))
    return undefined
  } catch (error) {
    if (error instanceof SecondStepRequired) return error
    throw error
  }
}

/** Whether an error refuses the request, rather than being a failure of the server. */
export function isRefusal(error: unknown): boolean {
  return error instanceof HttpError && error.status < 500
}
