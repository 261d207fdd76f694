/**
 * A route of the authentication API.
 *
 * @module
 */

import type { Handler } from '../../records/engine/route.ts'
import type { AuthInstance } from '../instance/instance.ts'
import type { RouteName } from '../setup/options.ts'
import type { RefreshSettings } from '../setup/refresh-settings.ts'
import type { RouteRow } from '../setup/routes.ts'

/** One route: its row in the table and its handler. `handler` is called once per mount. */
export type AuthRoute<Name extends RouteName = RouteName> = RouteRow<Name> &
  (
    | {
        readonly needs?: 'emailVerification'
        handler(auth: AuthInstance): Handler
      }
    | {
        readonly needs: 'refresh'
        handler(auth: AuthInstance, sessions: RefreshSettings): Handler
      }
  )
