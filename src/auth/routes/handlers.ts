/**
 * The handler of each route.
 *
 * @module
 */

import type { Host } from '../../records/engine/host.ts'
import type { Handler } from '../../records/engine/route.ts'
import type { Realm } from '../instance/instance.ts'
import type { RouteName } from '../setup/options.ts'
import { sendEmailCode } from './email-code.ts'
import { verifyEmail } from './email-verify.ts'
import { login } from './login.ts'
import { logout } from './logout.ts'
import { logoutAll } from './logout-all.ts'
import { me } from './me.ts'
import { changePassword } from './password-change.ts'
import { forgotPassword } from './password-forgot.ts'
import { resetPassword } from './password-reset.ts'
import { register } from './register.ts'
import { endSession } from './sessions-end.ts'
import { listSessions } from './sessions-list.ts'
import { social } from './social.ts'
import { refresh } from './token-refresh.ts'
import { deleteUser } from './users-delete.ts'
import { usersLister } from './users-list.ts'
import { getUser } from './users-read.ts'
import { modifyRoles } from './users-roles.ts'
import { endUserSessions } from './users-sessions.ts'
import { updateUser } from './users-update.ts'

/** The handlers of a realm; those of sessions only where refresh tokens are on. */
export function handlers(
  realm: Realm,
  host: Host,
  mount: string,
): { readonly [Name in RouteName]?: Handler } {
  const sessions = realm.settings.refresh
  return {
    register: (request, context) => register(realm, request, context),
    login: (request) => login(realm, request),
    social: (request) => social(realm, request),
    forgotPassword: (request) => forgotPassword(realm, request),
    resetPassword: (request) => resetPassword(realm, request),
    changePassword: (request) => changePassword(realm, request),
    ...(sessions && {
      refresh: (request) => refresh(realm, sessions, request),
      logout: (request) => logout(realm, sessions, request),
      logoutAll: (request) => logoutAll(realm, request),
      listSessions: (request) => listSessions(realm, sessions, request),
      endSession: (request) => endSession(realm, sessions, request),
      endUserSessions: (request) => endUserSessions(realm, request),
    }),
    me: (request) => me(realm, request),
    listUsers: usersLister(realm, host, mount),
    getUser: (request) => getUser(realm, request),
    updateUser: (request, context) => updateUser(realm, request, context),
    modifyRoles: (request) => modifyRoles(realm, request),
    sendEmailCode: (request) => sendEmailCode(realm, request),
    verifyEmail: (request) => verifyEmail(realm, request),
    deleteUser: (request) => deleteUser(realm, request),
  }
}
