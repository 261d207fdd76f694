/**
 * express-controller-sets as a service whose tokens are accepted: the option `legacyTokens`. The rest of this folder is
 * reached through this file alone.
 *
 * @module
 */

import type { LegacyTokenOptions } from '../setup/options.ts'
import { secretAdvice } from '../setup/token-settings.ts'
import type { AcceptedService } from '../sign-in/accepted-tokens.ts'
import { readingBoth } from './legacy-sessions.ts'
import { legacyAdvice, legacySettings } from './legacy-settings.ts'
import { legacyTokens } from './legacy-tokens.ts'

/** The service, if the option is set. */
export function legacyService(option: LegacyTokenOptions | undefined): AcceptedService | undefined {
  const settings = legacySettings(option)
  return (
    settings && {
      tokens(now) {
        const tokens = legacyTokens(settings, now)
        return {
          accessToken: tokens.verify,
          refreshTokens: (own) => readingBoth(own, tokens),
        }
      },
      adviceFor: (token) => [
        secretAdvice(settings, 'legacyTokens.secret'),
        legacyAdvice(settings, token),
      ],
    }
  )
}
