/** What the routes of the authentication API read and write. A route without an entry does not compile. */

import { type Auth, isOfMethod, type ServedRoute } from '../auth/instance/instance.ts'
import type { RouteName } from '../auth/request-info.ts'
import { NO_FIELDS, type Reach, shownFields } from './records.ts'

interface Sketch {
  /** The fields of users that its response shows. Default: none. */
  readonly read?: (auth: Auth) => readonly string[]
  /** The fields of users that its body sets. Default: none. */
  readonly write?: (auth: Auth) => readonly string[]
}

const password = ({ names }: Auth) => [names.password]
const role = ({ names }: Auth) => [names.role]
const identifiers = ({ settings }: Auth) => settings.identifiers.map(({ field }) => field)

const ROUTES: Readonly<Record<RouteName, Sketch>> = {
  register: {
    read: userFields,
    write: (auth) => [...identifiers(auth), ...password(auth), ...auth.settings.registerFields],
  },
  login: { read: userFields },
  social: { read: userFields },
  forgotPassword: {},
  resetPassword: { write: password },
  changePassword: { write: password },
  refresh: { read: userFields },
  logout: {},
  logoutAll: {},
  listSessions: {},
  endSession: {},
  me: { read: userFields },
  listUsers: { read: userFields },
  getUser: { read: (auth) => auth.settings.visibleFields ?? userFields(auth) },
  updateUser: { read: userFields, write: ({ settings }) => settings.updateFields },
  sendEmailCode: {},
  verifyEmail: {},
  deleteUser: {},
  modifyRoles: { read: userFields, write: role },
  endUserSessions: {},
}

export function accountFields({ auth, route }: ServedRoute): Reach {
  // A method takes nothing of the user's record, and shows it where it signs in.
  const ofMethod: Sketch = isOfMethod(route) && route.signsIn ? { read: userFields } : {}
  const { read, write } = isOfMethod(route) ? ofMethod : ROUTES[route.name]
  return {
    model: auth.settings.model.name,
    // Every signed-in user may look at another one; all else is about the account of the caller.
    scope: route.access === 'signed in' && route.name !== 'getUser',
    ...NO_FIELDS,
    ...(read && { read: read(auth) }),
    ...(write && { write: write(auth) }),
  }
}

function userFields({ users }: Auth): readonly string[] {
  return shownFields({ shape: users.model.shape, hidden: users.hidden })
}
