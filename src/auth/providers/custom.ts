/** Providers of your own, by a function that verifies the credential. */

import { HttpError } from '../../http/errors.ts'
import { withTimeout } from '../../ports/with-timeout.ts'
import { fail } from '../option-checks.ts'
import { providerRefused, providerUnreachable } from '../refusals.ts'
import { DEADLINE_MS } from './ask.ts'
import { type CustomOptions, type Provider, verified } from './provider.ts'

/** Any other name, with `verify`. If it throws, the sign-in is refused; an HttpError says how. */
export function customProvider(name: string, idField: string, settings: CustomOptions): Provider {
  if (typeof settings.verify !== 'function') fail(`'social.${name}' needs 'verify', a function`)
  return {
    name,
    idField,
    credentials: [],
    async profile(body) {
      const profile = await withTimeout(
        DEADLINE_MS,
        async () => settings.verify(body, settings),
        () => providerUnreachable(),
      ).catch((error: unknown) => {
        throw error instanceof HttpError ? error : providerRefused()
      })
      if (!profile) throw providerRefused()
      const { id, email, name: fullName, emailVerified } = profile
      return verified(id, { email, name: fullName }, emailVerified === true)
    },
  }
}
