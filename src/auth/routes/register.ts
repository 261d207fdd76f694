/**
 * `POST /register`: from the values to the account and its first session.
 *
 * @module
 */

import { invalidFields } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { valueResponse } from '../../http/respond.ts'
import type { Fields } from '../../ports/store.ts'
import type { Context } from '../../records/engine/route.ts'
import { createAccount } from '../accounts/create-account.ts'
import { credential, readBody, valueFor } from '../accounts/credentials.ts'
import { checkNames } from '../accounts/one-namespace.ts'
import { checkChoiceOf } from '../accounts/password-choice.ts'
import { chosenFields } from '../accounts/profile-fields.ts'
import { sendVerification } from '../delivery/code-requests.ts'
import type { AuthInstance } from '../instance.ts'
import { newPassword } from '../keys/passwords.ts'
import { accountExists, identifierNeeded, notActive } from '../refusals.ts'
import { requestInfo } from '../request-info/request-info.ts'
import { firstRole } from '../setup/roles.ts'
import { openSession } from '../sign-in/open-session.ts'
import type { AuthRoute } from './route.ts'

/** The route `register`. */
export const registerRoute: AuthRoute<'register'> = {
  name: 'register',
  method: 'POST',
  path: '/register',
  access: 'anyone',
  hidesAccounts: true,
  handler: (auth) => (request, context) => register(auth, request, context),
}

/**
 * Creates an account and signs it in. With `emailVerification` a code goes to its mailbox; if verification is required,
 * the response holds the user but no tokens.
 */
async function register(
  auth: AuthInstance,
  request: ApiRequest,
  context: Pick<Context, 'waitUntil'>,
): Promise<Response> {
  const { settings, names, users, passwords, identifiers } = auth
  const { client } = requestInfo(request)
  const body = await readBody(auth.host, request)

  // What the client asks for.
  const given = settings.identifiers
    .map((identifier) => [identifier, valueFor(body, identifier)] as const)
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
  const password = credential(body, names.password) ?? credential(body, 'password')
  if (given.length === 0) throw identifierNeeded(settings.identifiers.map(({ field }) => field))
  const plain = newPassword(password, names.password, settings.password.minLength)
  const values: Fields = {
    ...chosenFields(auth, body, settings.registerFields, request),
    [names.role]: firstRole(settings.roles),
  }
  for (const [{ field, normalize }, value] of given) {
    values[field] = normalize(value as string) ?? invalidIdentifier(field)
  }
  checkNames(settings, values)
  await checkChoiceOf(auth, plain, values, request)

  // Its turn to hash.
  const asker = { client, account: String(values[given[0]?.[0].field ?? '']) }
  return auth.hashing.admit(async (endTurn) => {
    // The account, which is stored with its password.
    const hash = () => passwords.hash(plain).finally(endTurn)
    const user = await createAccount(auth, values, hash, request)
    if (!user) throw accountExists()

    // A code to its mailbox.
    if (settings.emailVerification.enabled) {
      context.waitUntil(sendVerification(auth, user, request))
    }
    if (identifiers.awaitsProof(user)) {
      await auth.clients.remember(user, client)
      return valueResponse({ user: users.shown(user) }, { status: 201 })
    }

    // The session, in one conditional write.
    const signedIn = await openSession(auth, user, request)
    if (!signedIn) throw await refusal(auth, user)
    auth.report(request, 'signed-in', user._id)
    return valueResponse(signedIn.data, { status: 201 })
  }, asker)
}

/** Why an account that was just created is not signed in. */
async function refusal({ users }: AuthInstance, { _id }: Fields): Promise<Error> {
  const user = await users.byId(_id)
  // Otherwise the owner of the mailbox has just signed in through a provider, and the account is theirs.
  return user && users.isDisabled(user) ? notActive() : accountExists()
}

function invalidIdentifier(field: string): never {
  throw invalidFields({ [field]: 'Invalid value.' })
}
