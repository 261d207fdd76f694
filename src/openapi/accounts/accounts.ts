/** The operations of the authentication API: a route of its table that has none here does not compile. */

import { type Auth, isOfMethod, type ServedRoute } from '../../auth/instance/instance.ts'
import { MAX_BYTES } from '../../auth/keys/passwords.ts'
import * as account from '../../auth/refusals.ts'
import type { RouteName } from '../../auth/request-info.ts'
import { channelsThere } from '../../auth/setup/delivery-settings.ts'
import { SecondStepRequired } from '../../auth/setup/options.ts'
import type { HttpError } from '../../http/errors/errors.ts'
import * as http from '../../http/errors/refusals.ts'
import type { Serving } from '../../records/setup/serving.ts'
import { ID_REFUSALS, recordOperation } from '../records/records.ts'
import { referringRefusals } from '../schemas/bodies.ts'
import type { Schemas } from '../schemas/named-schemas.ts'
import {
  bodyRefusals,
  type Described,
  done,
  jsonBody,
  type RouteSketch,
} from '../schemas/responses.ts'
import { DATE, enumOf, ID_SCHEMAS, object, TEXT } from '../schemas/schemas.ts'
import type { Schema } from '../specification.ts'
import { methodSketch } from './methods.ts'
import {
  bodyWith,
  IDENTIFIER,
  loginBody,
  loginData,
  passwordRefusals,
  passwordSchema,
  profileBody,
  providerBody,
  reauthenticationRefusals,
  registerBody,
  rolesBody,
  signInSchema,
  userSchema,
} from './users.ts'

interface Given {
  readonly auth: Auth
  readonly schemas: Schemas
  readonly user: Schema
}

const signInRefusals = ({ settings }: Auth): readonly HttpError[] => [
  account.notActive(),
  ...(settings.emailVerification.required ? [account.emailNotConfirmed()] : []),
]

/** What a sign-in may end with, however it began. */
const openingRefusals = (auth: Auth): readonly HttpError[] => [
  ...signInRefusals(auth),
  ...(auth.settings.onLogin || auth.factors?.all.length ? [new SecondStepRequired()] : []),
]

const ROUTES: Readonly<Record<RouteName, (given: Given) => RouteSketch>> = {
  register: ({ auth, schemas, user }) => ({
    summary: 'Creates an account and signs it in',
    body: schemas.add('Register', registerBody(auth)),
    status: 201,
    data: auth.settings.emailVerification.required
      ? { anyOf: [signInSchema(auth, user, schemas), object({ user })] }
      : signInSchema(auth, user, schemas),
    refusals: [
      account.identifierNeeded(auth.settings.identifiers.map(({ field }) => field)),
      ...passwordRefusals(auth),
      http.invalidFields({}),
      account.accountExists(),
      ...signInRefusals(auth),
    ],
    isOpen: auth.settings.onRegister !== undefined || auth.settings.onLogin !== undefined,
  }),
  login: ({ auth, schemas, user }) => ({
    summary: 'Signs in by identifier and password',
    body: loginBody(auth, schemas),
    data: loginData(auth, user, schemas),
    refusals: [
      account.identifierRequired(),
      account.passwordRequired(),
      account.passwordTooLong(MAX_BYTES),
      account.invalidCredentials(),
      ...(auth.settings.onLogin || auth.machinery ? [account.invalidTicket()] : []),
      ...(auth.settings.lockout.reveal ? [account.tooManyAttempts(1)] : []),
      ...auth.methods.flatMap(({ signIn }) => signIn?.refusals ?? []),
      ...openingRefusals(auth),
    ],
    isOpen: auth.settings.onLogin !== undefined,
  }),
  social: ({ auth, schemas, user }) => ({
    summary: 'Signs in by the credential of a provider',
    path: { provider: enumOf([...auth.settings.providers.keys()]) ?? TEXT },
    body: providerBody(auth),
    data: signInSchema(auth, user, schemas, true),
    refusals: [
      account.providerNotEnabled('<provider>'),
      ...[...auth.settings.providers.values()]
        .filter(({ credentials }) => credentials.length > 0)
        .map(({ credentials }) => account.providerCredentialNeeded(credentials)),
      account.providerRefused(),
      account.invalidCredentials(),
      account.accountExists(),
      account.providerUnreachable(),
      ...openingRefusals(auth),
    ],
    isOpen: auth.settings.onLogin !== undefined,
  }),
  forgotPassword: ({ auth }) => ({
    summary: 'Sends a code to reset the password, if the account exists',
    body: bodyWith(
      { identifier: IDENTIFIER, channel: enumOf(channelsThere(auth.settings)) ?? TEXT },
      'identifier',
    ),
    refusals: [account.identifierRequired(), account.unknownChannel(), account.notSent(1)],
  }),
  resetPassword: ({ auth }) => ({
    summary: 'Sets a new password by a code',
    body: bodyWith(
      { identifier: IDENTIFIER, code: TEXT, newPassword: passwordSchema(auth) },
      ...['identifier', 'code', 'newPassword'],
    ),
    refusals: [account.identifierRequired(), ...passwordRefusals(auth), account.invalidCode()],
  }),
  changePassword: ({ auth }) => ({
    summary: 'Replaces the password',
    body: object({ currentPassword: TEXT, newPassword: passwordSchema(auth) }),
    refusals: [...passwordRefusals(auth), account.currentPasswordIncorrect()],
  }),
  refresh: ({ auth, schemas, user }) => ({
    summary: 'Gives a new access token for a refresh token',
    body: object({ refreshToken: TEXT }),
    data: signInSchema(auth, user, schemas),
    refusals: [account.invalidRefreshToken(), account.sessionInUse()],
  }),
  logout: () => ({
    summary: 'Ends the session of a refresh token',
    body: bodyWith({ refreshToken: TEXT }),
    mayBeEmpty: true,
  }),
  logoutAll: () => ({ summary: 'Ends all sessions of the user' }),
  listSessions: ({ schemas }) => ({
    summary: 'Lists the sessions of the user, the newest first',
    data: {
      type: 'array',
      items: schemas.own(
        'Session',
        object({
          id: TEXT,
          createdAt: DATE,
          lastUsedAt: DATE,
          expiresAt: DATE,
          current: { type: 'boolean', description: 'Whether the request belongs to it.' },
        }),
      ),
    },
  }),
  endSession: () => ({
    summary: 'Ends one session of the user',
    path: { id: TEXT },
    refusals: [http.entryNotFound()],
  }),
  me: ({ user }) => ({ summary: 'Reads the signed-in user', data: user }),
  listUsers: () => ({ summary: 'Lists users, the newest first' }),
  getUser: ({ auth, user, schemas }) => ({
    summary: 'Reads one user',
    data: auth.settings.visibleFields
      ? userSchema(auth, schemas, auth.settings.visibleFields)
      : user,
  }),
  updateUser: ({ auth, user, schemas }) => ({
    summary: 'Changes fields of a user',
    body: schemas.add(`${auth.settings.model.name}Profile`, profileBody(auth)),
    data: user,
    refusals: [
      account.ownAccountOnly(),
      http.nothingWritable(),
      http.invalidFields({}),
      ...auth.settings.identifiers.map(({ field }) => http.duplicate([field])),
      ...reauthenticationRefusals(),
    ],
  }),
  sendEmailCode: () => ({
    summary: 'Sends a code that proves a mailbox',
    body: bodyWith({ identifier: IDENTIFIER }),
    mayBeEmpty: true,
    refusals: [account.identifierRequired(), account.notSent(1)],
  }),
  verifyEmail: () => ({
    summary: 'Proves a mailbox by the code that it got',
    body: bodyWith({ identifier: IDENTIFIER, otp: TEXT, password: TEXT }, 'otp'),
    refusals: [
      account.identifierRequired(),
      account.passwordTooLong(MAX_BYTES),
      account.invalidCode(),
      account.accountExists(),
    ],
  }),
  deleteUser: ({ auth }) => ({
    summary: 'Deletes an account',
    body: bodyWith({ currentPassword: TEXT }),
    mayBeEmpty: true,
    refusals: [
      account.ownAccountOnly(),
      account.adminNeeded(),
      ...referringRefusals(auth.host, auth.settings.model),
      ...reauthenticationRefusals(),
    ],
    isOpen: auth.settings.onDelete !== undefined,
  }),
  modifyRoles: ({ auth, user }) => ({
    summary: 'Changes the roles of a user',
    body: rolesBody(auth),
    data: user,
    refusals: [
      account.roleRequired(),
      account.unknownRole('<role>', auth.settings.roles.list),
      ...(auth.settings.roles.multiple ? [] : [account.oneRoleOnly()]),
      account.ownAdminRole(),
      account.lastAdmin(),
    ],
  }),
  endUserSessions: () => ({ summary: 'Ends all sessions of a user' }),
}

/** The operation of a route; `served` is the list that `listUsers` serves. */
export function accountOperation(
  { auth, route }: ServedRoute,
  served: Serving | undefined,
  schemas: Schemas,
): Described {
  const given = { auth, schemas, user: userSchema(auth, schemas) }
  const sketch = isOfMethod(route)
    ? methodSketch(route, schemas, auth, ROUTES.login(given), openingRefusals(auth))
    : ROUTES[route.name](given)
  const { body, mayBeEmpty, data, status = 200, path, refusals = [], ...rest } = sketch
  const { summary } = rest
  if (served) return { ...recordOperation(served, schemas), id: route.name, summary }
  const isOfUser = route.path.startsWith('/users/:id')
  return {
    ...rest,
    id: route.name,
    path: { ...(isOfUser && { id: ID_SCHEMAS[auth.settings.model.idType] }), ...path },
    ...(body && jsonBody(body, !mayBeEmpty)),
    successes: { [status]: done(status, data) },
    refusals: [
      ...(body ? [...bodyRefusals(auth.host), account.invalidFormat()] : []),
      ...(isOfUser ? ID_REFUSALS : []),
      ...refusals,
    ],
  }
}
