/**
 * A route of the authentication API.
 *
 * @module
 */

import type { Handler } from '../../records/engine/route.ts'
import type { AuthInstance } from '../instance.ts'
import type { RouteName } from '../setup/route-names.ts'
import type { RouteRow } from '../setup/routes.ts'
import type { RefreshTokens } from '../sign-in/refresh-token-state.ts'

/** One route: its row in the table and its handler. `handler` is called once per mount. */
export type AuthRoute<Name extends RouteName = RouteName> = RouteRow<Name> &
  (
    | {
        readonly needs?: 'emailVerification'
        handler(auth: AuthInstance): Handler
      }
    | {
        readonly needs: 'refresh'
        handler(auth: AuthInstance, refresh: RefreshTokens): Handler
      }
  )
