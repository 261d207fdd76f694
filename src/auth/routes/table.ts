/** The routes that every app with accounts has, in the order in which `router.urls` lists them. */

import type { OwnMethod } from '../instance.ts'
import { login } from './login.ts'
import { changePassword, forgotPassword, resetPassword } from './passwords.ts'
import { register } from './register.ts'
import { bySender, route } from './route.ts'
import { deleteUser, getUser, me, modifyRoles, usersLister } from './users.ts'
import { updateUser } from './users-update.ts'

/** What names accounts to anyone. */
const HIDING = { hidesAccounts: true } as const

/** Accounts and their passwords. */
export const accounts: OwnMethod = {
  routes: [
    route('register', 'POST /register', 'anyone', register, HIDING),
    route('login', 'POST /login', 'anyone', (auth, request) => login(auth, request), HIDING),
    route('forgotPassword', 'POST /password/forgot', 'anyone', forgotPassword),
    route('resetPassword', 'POST /password/reset', 'anyone', resetPassword, HIDING),
    route('changePassword', 'POST /password/change', 'signed in', bySender(changePassword)),
    route('me', 'GET /me', 'signed in', me),
    { name: 'listUsers', method: 'GET', path: '/users', access: 'admin', handler: usersLister },
    route('getUser', 'GET /users/:id', 'signed in', getUser),
    route('updateUser', 'PATCH /users/:id', 'self or admin', bySender(updateUser)),
    route('modifyRoles', 'PATCH /users/:id/roles', 'admin', bySender(modifyRoles)),
    route('deleteUser', 'DELETE /users/:id', 'self or admin', bySender(deleteUser), {
      optIn: true,
    }),
  ],
}
