/**
 * `POST /register`.
 *
 * @module
 */

import { invalidFields } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { valueResponse } from '../../http/respond.ts'
import type { Fields } from '../../ports/store.ts'
import type { Context } from '../../records/engine/route.ts'
import { createAccount } from '../accounts/create-account.ts'
import { credential, readBody, typedAccount, valueFor } from '../accounts/credentials.ts'
import { checkNames } from '../accounts/one-namespace.ts'
import { checkChoiceOf } from '../accounts/password-choice.ts'
import { chosenFields } from '../accounts/profile-fields.ts'
import { awaitsProof, sendVerification } from '../delivery/verification.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { isDisabled, shownUser, userById } from '../instance/user.ts'
import { newPassword } from '../keys/passwords.ts'
import { accountExists, identifierNeeded, notActive } from '../refusals.ts'
import { firstRole } from '../setup/roles.ts'
import { signIn } from '../sign-in/sign-in.ts'
import { remember } from '../visit/known-clients.ts'
import { visitOf } from '../visit/visit.ts'
import type { AuthRoute } from './route.ts'
import { signedIn } from './signed-in.ts'

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
  const { settings, names } = auth
  const body = await readBody(auth, request)
  const given = settings.identifiers.map(
    (identifier) => [identifier, valueFor(body, identifier)] as const,
  )
  const plainText = credential(body, names.password) ?? credential(body, 'password')
  const identifiers = given.filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  )
  if (identifiers.length === 0)
    throw identifierNeeded(settings.identifiers.map(({ field }) => field))
  const plain = newPassword(plainText, names.password, settings.password.minLength)
  const values: Fields = {
    ...chosenFields(auth, body, settings.registerFields, request),
    [names.role]: firstRole(settings.roles),
  }
  for (const [{ field, normalize }, value] of identifiers) {
    values[field] = normalize(value as string) ?? invalidIdentifier(field)
  }
  checkNames(auth, values)
  await checkChoiceOf(auth, plain, values, request)
  const asker = { client: visitOf(request).client, account: typedAccount(auth, body) }
  return auth.hashing.admit(async (turn) => {
    const hash = () => auth.passwords.hash(plain).finally(turn.end)
    const user = await createAccount(auth, values, hash, request)
    if (!user) throw accountExists()
    if (settings.emailVerification.enabled) {
      context.waitUntil(sendVerification(auth, user, request))
    }
    if (awaitsProof(auth, user)) {
      await remember(auth, user, asker.client)
      return valueResponse({ user: shownUser(auth, user) }, { status: 201 })
    }
    const data = await signIn(auth, user, request, {})
    if (!data) throw await refusal(auth, user)
    await signedIn(auth, user, request)
    return valueResponse(data, { status: 201 })
  }, asker)
}

/** Why an account that was just created is not signed in. */
async function refusal(auth: AuthInstance, { _id }: Fields): Promise<Error> {
  const user = await userById(auth, String(_id))
  if (user && isDisabled(auth, user)) return notActive()
  // The owner of the mailbox has just signed in through a provider, and the account is theirs.
  return accountExists()
}

function invalidIdentifier(field: string): never {
  throw invalidFields({ [field]: 'Invalid value.' })
}
