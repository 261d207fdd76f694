/**
 * The parts of accounts that an app may do without. An option is plain data, so it cannot bring the code that it needs: each
 * part is a value for one option, and index.ts lets an app name those that it uses.
 */

import { bySender, type OwnMethod, route } from './instance/instance.ts'
import { legacyMethod } from './legacy-tokens.ts'
import { facebookProvider, githubProvider } from './providers/access-token.ts'
import { appleProvider, googleProvider } from './providers/id-token.ts'
import { customProvider, type Maker } from './providers/provider.ts'
import { emailProof } from './routes/email-verify.ts'
import { login } from './routes/login.ts'
import { changePassword, forgotPassword, resetPassword } from './routes/passwords.ts'
import { register } from './routes/register.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { socialSignIn } from './routes/social.ts'
import { deleteUser, getUser, me, modifyRoles, usersLister } from './routes/users.ts'
import { updateUser } from './routes/users-update.ts'
import type { AuthOptions } from './setup/options.ts'

/** A part of accounts, which takes one option. */
export interface AccountsPart {
  /** The option, such as `emailVerification` or `social.google`. */
  readonly option: string
  /** Makes its provider of the option. */
  readonly maker?: Maker
  /** What it adds; called once for each router. */
  methods(options: AuthOptions<never>): readonly OwnMethod[]
}

/** A part for providers, whose option is `option`. */
function social(option: string, maker: Maker): AccountsPart {
  return { option, maker, methods: () => [socialSignIn] }
}

/** Sign-in with Google: the option `social.google`. */
export const google: AccountsPart = /* @__PURE__ */ social('social.google', googleProvider)

/** Sign-in with Apple: the option `social.apple`. */
export const apple: AccountsPart = /* @__PURE__ */ social('social.apple', appleProvider)

/** Sign-in with Facebook: the option `social.facebook`. */
export const facebook: AccountsPart = /* @__PURE__ */ social('social.facebook', facebookProvider)

/** Sign-in with GitHub: the option `social.github`. */
export const github: AccountsPart = /* @__PURE__ */ social('social.github', githubProvider)

/** Sign-in with providers of your own: all other names in the option `social`. */
export const ownProviders: AccountsPart = /* @__PURE__ */ social('social', customProvider)

/** Sessions that are refreshed, listed and ended: the option `refresh`. */
export const sessions: AccountsPart = { option: 'refresh', methods: () => [sessionRoutes] }

/** Proof of mailboxes by a code: the option `emailVerification`. */
export const emailVerification: AccountsPart = {
  option: 'emailVerification',
  methods: () => [emailProof],
}

/** Tokens of express-controller-sets, during a move from there: the option `legacyTokens`. */
export const legacyTokens: AccountsPart = {
  option: 'legacyTokens',
  methods: ({ legacyTokens: option }) => (option === undefined ? [] : [legacyMethod(option)]),
}

/** All parts, in the order of their routes in `router.urls`. */
export const ALL_PARTS: readonly AccountsPart[] = [
  google,
  apple,
  facebook,
  github,
  ownProviders,
  sessions,
  emailVerification,
  legacyTokens,
]

/** What names accounts to anyone. */
const HIDING = { hidesAccounts: true } as const

/** Accounts and their passwords. */
export const accounts: OwnMethod = {
  routes: [
    route('register', 'POST /register', 'anyone', register, HIDING),
    route('login', 'POST /login', 'anyone', login, HIDING),
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
