/** `POST /register`: from the values to the account and its first session. */

import { valueResponse } from '../../http/response/respond.ts'
import type { Fields } from '../../ports/store/records.ts'
import { changeIdOf } from '../../records/write/write-request.ts'
import { createAccount } from '../accounts/create-account.ts'
import {
  checkNames,
  chosenFields,
  credential,
  newPassword,
  readBody,
  valueFor,
  withNormalIdentifiers,
} from '../accounts/credentials.ts'
import { checkChoiceOf } from '../accounts/password-choice.ts'
import { sendNewCode } from '../delivery/code-requests.ts'
import { type AuthRequest, bySender } from '../instance/instance.ts'
import type { NewSession } from '../instance/sessions.ts'
import { DECOY } from '../keys/passwords.ts'
import * as refuse from '../refusals.ts'
import { report } from '../request-info.ts'
import { firstSignIn, openSession, type SignedIn } from '../sign-in.ts'

/** Creates an account and signs it in, unless its mailbox has to be proven first. */
export function register(auth: AuthRequest): Promise<Response> {
  return auth.users.model.changes ? bySender(signUp)(auth) : signUp(auth)
}

async function signUp(auth: AuthRequest): Promise<Response> {
  const { settings, names, users, passwords, identifiers, client } = auth
  const body = await readBody(auth)

  // What the client asks for.
  const given = settings.identifiers
    .map((identifier) => [identifier, valueFor(body, identifier)] as const)
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
  const password = credential(body, names.password) ?? credential(body, 'password')
  if (given.length === 0)
    throw refuse.identifierNeeded(settings.identifiers.map(({ field }) => field))
  const plain = newPassword(password, names.password, settings.password.minLength)
  const values = withNormalIdentifiers(settings, {
    ...chosenFields(auth, body, settings.registerFields),
    [names.role]: settings.roles.first,
    ...Object.fromEntries(given.map(([{ field }, value]) => [field, value])),
  })
  checkNames(settings, values)
  await checkChoiceOf(auth, plain, values)

  // Its turn to hash.
  const asker = { client, account: String(values[given[0]?.[0].field ?? '']) }
  return auth.hashing.admit(async (endTurn) => {
    // The values are checked before the password is hashed, and it is hashed before the store can tell whether the
    // account exists: the response takes the same time either way.
    const record = await users.engine.validate({ ...values, [names.password]: DECOY })
    record[names.password] = await passwords.hash(plain).finally(endTurn)

    // The account, its first session and the client that it knows, in one write.
    const id = await users.newId()
    const mayOpen = !users.isDisabled(record) && !identifiers.awaitsProof(record)
    const session = mayOpen ? auth.refresh?.open(id, auth.request) : undefined
    const stored = { ...record, ...startOf(auth, id, session) }
    const user = await createAccount(auth, id, stored)
    if (!user) throw refuse.accountExists()

    // A code to its mailbox.
    if (settings.emailVerification.enabled)
      auth.context.waitUntil(sendNewCode(auth, user, 'verification'))
    if (identifiers.awaitsProof(user)) return created(auth, id, { user: users.shown(user) })

    // The response. If onRegister has just enabled the account, or ended its session, one is opened now.
    const first = mayOpen ? await firstSignIn(auth, user, session) : undefined
    const data = first ?? (await signInAnew(auth, user))
    return respond(auth, user, data)
  }, asker)
}

function startOf(
  { clients, sessions, client }: AuthRequest,
  _id: string,
  session: NewSession | undefined,
): Fields {
  return {
    ...(client !== undefined && clients.only({ _id }, client)),
    ...(session && { [sessions.field]: [session.entry] }),
  }
}

/** Signs in to the account as it is by now, if its password is still the one of the sign-up. */
async function signInAnew(auth: AuthRequest, user: Fields): Promise<SignedIn['data'] | undefined> {
  const { users, names } = auth
  const now = await users.byId(user._id)
  if (now?.[names.password] !== user[names.password]) return undefined
  return (await openSession(auth, now as Fields))?.data
}

/** The response to a sign-up with the data of its sign-in. Throws why the account is not signed in. */
async function respond(
  auth: AuthRequest,
  { _id }: Fields,
  data: SignedIn['data'] | undefined,
): Promise<Response> {
  const { users } = auth
  if (data) {
    report(auth, 'signed-in', _id)
    return created(auth, _id, data)
  }
  const user = await users.byId(_id)
  // Otherwise the owner of the mailbox has just signed in through a provider, and the account is theirs.
  throw user && users.isDisabled(user) ? refuse.notActive() : refuse.accountExists()
}

function created({ users }: AuthRequest, id: unknown, data: unknown): Response {
  const headers = users.model.changes && changeIdOf(users.engine, id)
  return valueResponse(data, { status: 201, ...(headers && { headers }) })
}
