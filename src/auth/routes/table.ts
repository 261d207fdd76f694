/**
 * The routes of the authentication API, in the order in which `router.urls` lists them: a name without a route does not compile.
 *
 * @module
 */

import type { Handler } from '../../records/engine/route.ts'
import type { AuthInstance } from '../instance.ts'
import type { RouteName } from '../setup/route-names.ts'
import { sendEmailCodeRoute, verifyEmailRoute } from './email-verify.ts'
import { refusesInSteps } from './even-time.ts'
import { loginRoute } from './login.ts'
import { changePasswordRoute } from './password-change.ts'
import { forgotPasswordRoute } from './password-forgot.ts'
import { resetPasswordRoute } from './password-reset.ts'
import { registerRoute } from './register.ts'
import type { AuthRoute } from './route.ts'
import {
  endSessionRoute,
  endUserSessionsRoute,
  listSessionsRoute,
  logoutAllRoute,
  logoutRoute,
} from './sessions.ts'
import { socialRoute } from './social.ts'
import { refreshRoute } from './token-refresh.ts'
import { deleteUserRoute } from './users-delete.ts'
import { listUsersRoute } from './users-list.ts'
import { getUserRoute, meRoute } from './users-read.ts'
import { modifyRolesRoute } from './users-roles.ts'
import { updateUserRoute } from './users-update.ts'

const routes = {
  register: registerRoute,
  login: loginRoute,
  social: socialRoute,
  forgotPassword: forgotPasswordRoute,
  resetPassword: resetPasswordRoute,
  changePassword: changePasswordRoute,
  refresh: refreshRoute,
  logout: logoutRoute,
  logoutAll: logoutAllRoute,
  listSessions: listSessionsRoute,
  endSession: endSessionRoute,
  me: meRoute,
  listUsers: listUsersRoute,
  getUser: getUserRoute,
  updateUser: updateUserRoute,
  sendEmailCode: sendEmailCodeRoute,
  verifyEmail: verifyEmailRoute,
  deleteUser: deleteUserRoute,
  modifyRoles: modifyRolesRoute,
  endUserSessions: endUserSessionsRoute,
} satisfies { readonly [Name in RouteName]: AuthRoute<Name> }

/** In the order in which `router.urls` lists them. */
export const ROUTES: readonly AuthRoute[] = Object.values(routes)

/** The handler of `route` in an instance; undefined if an option that it needs is off. */
export function handlerOf(route: AuthRoute, auth: AuthInstance): Handler | undefined {
  if (route.needs === 'refresh') {
    return auth.refresh && route.handler(auth, auth.refresh)
  }
  const handler = route.handler(auth)
  return route.hidesAccounts ? refusesInSteps(handler) : handler
}
