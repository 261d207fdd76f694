/**
 * `fieldgate/totp`: authenticator apps as a second factor, with recovery codes.
 *
 * @module
 */

import { array, object, string } from 'zod/mini'
import { defineMethod, methodRoute } from '../../auth/machinery.ts'
import * as refuse from '../../auth/refusals.ts'
import type { Accounts, Method, MethodRoute, OpenMethod } from '../../auth/setup/method.ts'
import { refusal } from '../../http/errors/errors.ts'
import { entryNotFound } from '../../http/errors/refusals.ts'
import { messageResponse, valueResponse } from '../../http/response/respond.ts'
import { checkOptions } from '../../model/option-rules.ts'
import type { Fields } from '../../ports/store/records.ts'
import { ticketIn } from '../method-model.ts'
import { newSecret, stepOf } from './codes.ts'
import { Enrolled } from './enrolled.ts'

/** Options of `totp`. */
export interface TotpOptions {
  /** The name of your app, as authenticator apps show it. */
  readonly issuer: string
}

const RULES = {
  issuer: {
    must: 'be the name of your app, without a colon',
    test: (value: unknown) =>
      typeof value === 'string' && value.trim() !== '' && !value.includes(':'),
  },
}

const enrolledAlready = () =>
  refusal('enrolled-already', 409, 'An authenticator app is set up already.')
/** As long as a recent sign-in is. */
const TICKET_MS = 10 * 60_000

const recoveryCodes = object({ recoveryCodes: array(string()) })

const ROUTES: readonly MethodRoute[] = [
  methodRoute('createTotp', 'POST /totp', 'signed in', {
    enrols: true,
    summary: 'Begins to set up an authenticator app; nothing changes until a code of it is right',
    response: object({ secret: string(), uri: string(), ticket: string() }),
    refusals: [refuse.recentSignInRequired(), enrolledAlready()],
  }),
  methodRoute('confirmTotp', 'POST /totp/confirm', 'signed in', {
    enrols: true,
    summary:
      'Sets the authenticator app up, by its first code; the recovery codes are shown only here',
    body: object({ ticket: string(), code: string() }),
    response: recoveryCodes,
    refusals: [refuse.invalidCode(), refuse.recentSignInRequired(), enrolledAlready()],
  }),
  methodRoute('deleteTotp', 'DELETE /totp', 'signed in', {
    summary: 'Removes the authenticator app and the recovery codes',
    refusals: [refuse.recentSignInRequired(), entryNotFound(), refuse.lastFactor()],
  }),
  methodRoute('createRecoveryCodes', 'POST /recovery-codes', 'signed in', {
    summary: 'Replaces the recovery codes',
    response: recoveryCodes,
    refusals: [refuse.recentSignInRequired(), entryNotFound()],
  }),
]

/**
 * A second factor: the codes of an authenticator app (RFC 6238), and recovery codes for when it is lost. Whoever has set
 * it up is asked for a code at every sign-in but one by passkey. Secrets are stored encrypted, under a key that comes from
 * `token.secret`. Throws a `TypeError` without an issuer.
 *
 * ```ts
 * const auth = createAuthRouter({ model: User, token: { secret }, methods: [totp({ issuer: 'Atlas' })] })
 * ```
 */
export function totp(options: TotpOptions): Method<'totp'> {
  checkOptions(options, RULES, 'totp')
  const { issuer = '' } = options
  if (issuer === '') throw new TypeError(`totp: 'issuer' must ${RULES.issuer.must}`)
  return defineMethod({
    name: 'totp',
    routes: ROUTES,
    open: (accounts) => opened(accounts, issuer.trim()),
  })
}

function opened(accounts: Accounts, issuer: string): OpenMethod {
  const enrolled = new Enrolled(accounts)
  const boundTo = (user: Fields) => JSON.stringify([String(user._id), accounts.activeEra(user)])
  return {
    handlers: {
      async createTotp(request) {
        const user = await accounts.recent(request)
        if (await enrolled.of(user)) throw enrolledAlready()
        const secret = newSecret()
        const until = accounts.now() + TICKET_MS
        const ticket = await accounts.encrypt(JSON.stringify({ secret, until }), boundTo(user))
        return valueResponse({ secret, uri: uriOf(issuer, accounts.labelOf(user), secret), ticket })
      },
      async confirmTotp(request) {
        // The ticket says that the sign-in was recent; the account may have another factor since.
        const user = await accounts.strong(request)
        const { ticket, code } = await accounts.body(request)
        if (typeof ticket !== 'string' || typeof code !== 'string') throw refuse.invalidFormat()
        const begun = await ticketIn<{ secret: string }>(accounts, ticket, boundTo(user))
        const step = begun && (await stepOf(begun.secret, code, accounts.now()))
        if (!begun || step === undefined) throw refuse.invalidCode()
        const codes = await enrolled.enrol(user, begun.secret, step)
        if (!codes) throw enrolledAlready()
        accounts.report(request, 'factor-added', user._id)
        accounts.tell(user, 'factorAdded', request)
        return valueResponse({ recoveryCodes: codes })
      },
      async deleteTotp(request) {
        const user = await accounts.recent(request)
        if (!(await enrolled.remove(user))) throw entryNotFound()
        accounts.report(request, 'factor-removed', user._id)
        accounts.tell(user, 'factorRemoved', request)
        return messageResponse('The authenticator app is removed.')
      },
      async createRecoveryCodes(request) {
        const codes = await enrolled.replaceCodes(await accounts.recent(request))
        if (!codes) throw entryNotFound()
        return valueResponse({ recoveryCodes: codes })
      },
    },
    secondFactors: [
      {
        name: 'totp',
        answer: ['totp', 'string'],
        asks: true,
        isEnrolled: (user, stays) => enrolled.idOf(user, stays),
        isRight: (user, code) => enrolled.useCode(user, String(code)),
      },
      {
        name: 'recovery-code',
        answer: ['recoveryCode', 'string'],
        asks: true,
        isEnrolled: (user, stays) => enrolled.idOf(user, stays, 1),
        isRight: (user, code) => enrolled.useRecoveryCode(user, String(code)),
      },
    ],
    forget: (userId) => enrolled.records.forget(userId),
  }
}

/** The URI that apps read from a QR code. */
function uriOf(issuer: string, label: string, secret: string): string {
  const account = `${encodeURIComponent(issuer)}:${encodeURIComponent(label)}`
  return `otpauth://totp/${account}?secret=${secret}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=6&period=30`
}
