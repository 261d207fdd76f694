/**
 * Passkeys: sign-in by a key that the user's device or password manager keeps, with a fingerprint, face or PIN.
 *
 * @module
 */

import { array, boolean, date, nullable, object, optional, record, string, unknown } from 'zod/mini'
import { defineMethod, methodRoute } from '../../../src/auth/machinery.ts'
import * as refuse from '../../../src/auth/refusals.ts'
import type {
  Accounts,
  Method,
  MethodRoute,
  OpenMethod,
  SignInMethod,
} from '../../../src/auth/setup/method.ts'
import { badRequest, refusal } from '../../../src/http/errors/errors.ts'
import { entryNotFound, invalidFields } from '../../../src/http/errors/refusals.ts'
import { messageResponse, valueResponse } from '../../../src/http/response/respond.ts'
import { nameIn } from '../../../src/methods/method-model.ts'
import { checkOptions, each, type Fail, failAs, whatever } from '../../../src/model/option-rules.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import { Ceremonies, type PasskeysOptions } from './ceremonies.ts'
import { type Passkey, Passkeys } from './stored.ts'

export type { PasskeysOptions }

const KNOWN = each(whatever, 'rpId', 'rpName', 'origins', 'relatedOrigins')
const fail: Fail = failAs('passkeys')

/** Of more than 1000 some would sign in that no list has. Parallel requests may come to a few more than these. */
const MOST_PASSKEYS = 100

const tooMany = () =>
  refusal('too-many-passkeys', 409, 'You have too many passkeys. Remove one first.')
const refused = () => badRequest('passkey-rejected', 'That passkey was not accepted.')

const publicKey = record(string(), unknown())
const begun = object({ publicKey, ticket: string() })
const shown = object({
  id: string(),
  name: string(),
  createdAt: date(),
  lastUsedAt: nullable(date()),
  synced: boolean(),
})

const ROUTES: readonly MethodRoute[] = [
  methodRoute('beginPasskey', 'POST /passkeys/options', 'signed in', {
    enrols: true,
    summary: 'Begins to register a passkey',
    response: begun,
    refusals: [refuse.recentSignInRequired(), tooMany()],
  }),
  methodRoute('createPasskey', 'POST /passkeys', 'signed in', {
    enrols: true,
    summary: 'Registers a passkey',
    body: object({ ticket: string(), credential: publicKey, name: optional(string()) }),
    response: shown,
    status: 201,
    refusals: [invalidFields({}), refused(), refuse.recentSignInRequired(), tooMany()],
  }),
  methodRoute('listPasskeys', 'GET /passkeys', 'signed in', {
    enrols: true,
    summary: "Lists the user's passkeys, the newest first",
    response: array(shown),
  }),
  methodRoute('renamePasskey', 'PATCH /passkeys/:id', 'signed in', {
    summary: 'Changes the name of a passkey',
    body: object({ name: string() }),
    response: shown,
    refusals: [invalidFields({}), entryNotFound()],
  }),
  methodRoute('deletePasskey', 'DELETE /passkeys/:id', 'signed in', {
    summary: 'Removes a passkey',
    refusals: [
      refuse.recentSignInRequired(),
      entryNotFound(),
      refuse.lastWayIn(),
      refuse.lastFactor(),
    ],
  }),
  methodRoute('beginPasskeyLogin', 'POST /login/passkey/options', 'anyone', {
    summary: 'Begins a sign-in by passkey, or with the ticket of a first step a second one',
    body: object({ ticket: optional(string()) }),
    response: begun,
  }),
  methodRoute('passkeyLogin', 'POST /login/passkey', 'anyone', {
    hidesAccounts: true,
    signsIn: true,
    summary: 'Signs in by a passkey',
    body: object({ ticket: string(), credential: publicKey }),
    refusals: [refuse.invalidCredentials()],
  }),
]

/**
 * Passkeys (WebAuthn), on `@simplewebauthn/server`: users register them and sign in with them, without a password and
 * without naming an account. A passkey counts as both factors, because the user is verified at each use. Throws a
 * `TypeError` if an option makes no sense.
 *
 * ```ts
 * const methods = [passkeys({ rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] })]
 * const auth = createAuthRouter({ model: User, token: { secret }, methods })
 * ```
 */
export function passkeys(options: PasskeysOptions): Method<'passkeys'> {
  checkOptions(options, KNOWN, 'passkeys')
  const { rpId, rpName, origins, relatedOrigins = [] } = options
  const isText = (value: unknown) => typeof value === 'string' && value.trim() !== ''
  if (!isText(rpId) || /[:/]/.test(rpId)) fail("'rpId' must be a domain, such as 'example.com'")
  if (!isText(rpName)) fail("'rpName' must be the name of your app")
  const isOrigin = (origin: unknown) =>
    URL.canParse(String(origin)) && new URL(String(origin)).origin === origin
  const isOfDomain = (origin: unknown) =>
    isOrigin(origin) && `.${new URL(String(origin)).hostname}`.endsWith(`.${rpId}`)
  if (!Array.isArray(origins) || origins.length === 0 || !origins.every(isOfDomain)) {
    fail(`'origins' must list origins of '${rpId}', such as 'https://${rpId}'`)
  }
  if (!Array.isArray(relatedOrigins) || !relatedOrigins.every(isOrigin)) {
    fail("'relatedOrigins' must list origins, such as 'https://example.co.uk'")
  }
  const all = [...origins, ...relatedOrigins]
  return defineMethod({
    name: 'passkeys',
    routes: ROUTES,
    ...(relatedOrigins.length > 0 && { wellKnown: { '/.well-known/webauthn': { origins: all } } }),
    open: (accounts) => opened(accounts, { ...options, origins: all }),
  })
}

function opened(accounts: Accounts, options: PasskeysOptions): OpenMethod {
  const stored = new Passkeys(accounts)
  const ceremonies = new Ceremonies(accounts, options, stored)
  // Every failure is one 401, and none counts as a guess, because there is nothing to guess.
  const respond: SignInMethod['respond'] = async (
    { ticket, credential, passkey = credential },
    request,
    own,
  ) => {
    checkTyped(ticket, passkey)
    const challenge = await ceremonies.challengeIn(ticket, 'sign-in')
    const user = await ceremonies.accountOf(passkey, challenge, request, own)
    if (user) return accounts.signIn(user, request, { isStrong: true, own })
    accounts.report(request, 'sign-in-failed')
    throw refuse.invalidCredentials()
  }
  return {
    handlers: {
      ...registrations(accounts, stored, ceremonies),
      ...ownPasskeys(accounts, stored),
      async beginPasskeyLogin(request) {
        const { ticket } = await accounts.body(request)
        if (ticket !== undefined && typeof ticket !== 'string') throw refuse.invalidFormat()
        return valueResponse(await ceremonies.authentication(ticket, request))
      },
      passkeyLogin: async (request) => respond(await accounts.body(request), request, undefined),
    },
    signIn: {
      body: object({ ticket: string(), passkey: publicKey }),
      // The ticket of a second step is another one.
      takes: ({ ticket, credential, passkey = credential }) =>
        passkey !== undefined && (typeof ticket !== 'string' || !ticket.includes('~')),
      respond,
    },
    secondFactors: [
      {
        name: 'passkey',
        answer: ['passkey', 'object'],
        asks: false,
        isEnrolled: (user, stays) => stored.idsOf(user, stays),
        async isRight(user, credential, request, ticket) {
          // A request that is sent again shows the same use, whose count is no higher; a copy of the key shows another one.
          const isNew = await ceremonies.isFirst(ticket, credential)
          const challenge = isNew ? ceremonies.challengeFor(ticket) : undefined
          const own = String(user._id)
          return (await ceremonies.accountOf(credential, challenge, request, own)) !== undefined
        },
      },
    ],
    opens: async (user) => (await stored.idsOf(user, true)) !== '',
    forget: (userId) => stored.records.forget(userId),
  }
}

function registrations(
  accounts: Accounts,
  stored: Passkeys,
  ceremonies: Ceremonies,
): OpenMethod['handlers'] {
  const checkRoom = async (user: Fields) => {
    if ((await stored.of(user)).length >= MOST_PASSKEYS) throw tooMany()
  }
  return {
    async beginPasskey(request) {
      const user = await accounts.recent(request)
      await checkRoom(user)
      return valueResponse(await ceremonies.registration(user, request))
    },
    async createPasskey(request) {
      // The ticket says that the sign-in was recent; the account may have a factor since.
      const user = await accounts.strong(request)
      const { ticket, credential, name = 'Passkey' } = await accounts.body(request)
      checkTyped(ticket, credential)
      const named = nameIn(name)
      await checkRoom(user)
      const challenge = await ceremonies.challengeIn(ticket, ceremonies.registering(user))
      const key = challenge && (await ceremonies.registered(credential, challenge))
      const passkey = key && (await stored.add(user, named, key))
      if (!passkey) throw refused()
      accounts.report(request, 'factor-added', user._id)
      accounts.tell(user, 'factorAdded', request)
      return valueResponse(shownPasskey(passkey), { status: 201 })
    },
  }
}

function ownPasskeys(accounts: Accounts, stored: Passkeys): OpenMethod['handlers'] {
  return {
    async listPasskeys(request) {
      const user = await accounts.byId(request.auth?.userId)
      return valueResponse((user ? await stored.of(user) : []).map(shownPasskey))
    },
    async renamePasskey(request) {
      const { name } = await accounts.body(request)
      const user = await accounts.byId(request.auth?.userId)
      const renamed = user && (await stored.rename(user, String(request.params.id), nameIn(name)))
      if (!renamed) throw entryNotFound()
      return valueResponse(shownPasskey(renamed))
    },
    async deletePasskey(request) {
      const user = await accounts.recent(request)
      if (!(await stored.remove(user, String(request.params.id)))) throw entryNotFound()
      accounts.report(request, 'factor-removed', user._id)
      accounts.tell(user, 'factorRemoved', request)
      return messageResponse('Passkey removed.')
    },
  }
}

/** Throws a 400 for a ticket or a credential of another type. */
function checkTyped(ticket: unknown, credential: unknown): asserts ticket is string {
  const isObject = typeof credential === 'object' && credential !== null
  if (typeof ticket !== 'string' || !isObject || Array.isArray(credential)) {
    throw refuse.invalidFormat()
  }
}

function shownPasskey({ _id, name, createdAt, lastUsedAt, synced }: Passkey) {
  return { id: _id, name, createdAt, lastUsedAt: lastUsedAt ?? null, synced }
}
