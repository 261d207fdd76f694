/**
 * `fieldgate/email-code`: signing in by a code that is mailed, without a password.
 *
 * @module
 */

import { maxLength, object, string } from 'zod/mini'
import { defineMethod, methodRoute } from '../../auth/machinery.ts'
import * as refuse from '../../auth/refusals.ts'
import { MAX_LENGTH } from '../../auth/setup/identifiers.ts'
import type { Accounts, Method, MethodRoute, OpenMethod } from '../../auth/setup/method.ts'
import { isRefusal } from '../../auth/sign-in.ts'
import { invalidFields } from '../../http/errors/refusals.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { checkOptions, flag } from '../../model/option-rules.ts'
import type { Fields } from '../../ports/store/records.ts'
import { Pending, type PendingCode } from './pending.ts'

/** Options of `emailCode`. */
export interface EmailCodeOptions {
  /**
   * Whether an address without an account gets a code too, and the account when the code is used. The body of `POST /login` may
   * then have `registerFields`. Default false.
   */
  readonly signUp?: boolean
}

const IDENTIFIER = string().check(maxLength(MAX_LENGTH))

const ROUTES: readonly MethodRoute[] = [
  methodRoute('sendLoginCode', 'POST /login/code', 'anyone', {
    summary: 'Mails a code that signs in, if the account exists',
    body: object({ identifier: IDENTIFIER }),
    refusals: [refuse.identifierRequired(), refuse.notSent(1)],
  }),
]

/**
 * Sign-in by a mailed code: `POST /login/code` sends it, `POST /login` takes `{ identifier, otp }`. A code proves the address, so
 * whatever others have put into the account before ends with the first one. Length, lifetime, tries and pause are those
 * of `otp`. Throws a `TypeError` if an option makes no sense; start-up fails without mail or without the identifier `email`.
 *
 * ```ts
 * const auth = createAuthRouter({ model: User, token: { secret }, methods: [emailCode()] })
 * ```
 */
export function emailCode(options: EmailCodeOptions = {}): Method<'emailCode'> {
  checkOptions(options, { signUp: flag }, 'emailCode')
  const { signUp = false } = options
  return defineMethod({
    name: 'emailCode',
    routes: ROUTES,
    open: (accounts) => opened(accounts, signUp),
  })
}

function opened(accounts: Accounts, signUp: boolean): OpenMethod {
  if (!accounts.provesMail) {
    throw new TypeError(
      "emailCode: it needs 'email' in 'identifiers', the field 'provenEmail' of userFields(), and 'mail' without 'toField'",
    )
  }
  const pending = new Pending(accounts)
  /** The account that a body names, or with `signUp` what it is to be. */
  const personIn = async (body: Fields, own?: string): Promise<Fields | undefined> => {
    const named = accounts.named(body, own)
    if (!named) throw refuse.identifierRequired()
    const isNew = signUp && own === undefined
    return (await named.find()) ?? (isNew ? accounts.newcomer(body) : undefined)
  }
  return {
    handlers: {
      async sendLoginCode(request) {
        const body = await accounts.body(request)
        if (!accounts.named(body)) throw refuse.identifierRequired()
        let before: PendingCode | undefined
        const find = async () => {
          await pending.sweep()
          const person = await personIn(body)
          before = await pending.of(person)
          return person
        }
        return accounts.sendCode(request, find, (user) => pending.issue(user, before))
      },
    },
    signIn: {
      body: object({ identifier: IDENTIFIER, otp: string() }),
      ...(signUp && { signsUp: true, refusals: [invalidFields({})] }),
      takes: (body) => Object.hasOwn(body, 'otp') && !Object.hasOwn(body, 'ticket'),
      async respond(body, request, own) {
        const { otp } = body
        if (typeof otp !== 'string') throw refuse.invalidFormat()
        const person = await personIn(body, own)
        // A locked or disabled account takes as long as one that is not there.
        const mayTry = person && !accounts.isDisabled(person) && !accounts.isLocked(person, request)
        const giveBack = await pending.use(mayTry ? person : undefined, otp, request)
        if (!giveBack || !person) {
          accounts.report(request, 'code-failed', person?._id)
          throw refuse.invalidCredentials()
        }
        return enter(accounts, { person, body, request, own, giveBack })
      },
    },
    opens: async (user) => accounts.hasProven(user),
    forget: (userId) => pending.forget(userId),
  }
}

interface Entry {
  readonly person: Fields
  readonly body: Fields
  readonly request: ApiRequest
  readonly own: string | undefined
  readonly giveBack: () => Promise<void>
}

/** Signs in who has shown a code. */
async function enter(
  accounts: Accounts,
  { person, body, request, own, giveBack }: Entry,
): Promise<Response> {
  const isNew = person._id === undefined
  let user: Fields | undefined
  try {
    user = isNew
      ? await accounts.create(person, body, request)
      : await accounts.prove(person, request, own)
    if (user) return await accounts.signIn(user, request, { own })
  } catch (error) {
    // A mistake in another field, or a failure of the store: the code is good for the next try.
    if ((isNew && !user) || !isRefusal(error)) await giveBack().catch(() => {})
    throw error
  }
  throw refuse.invalidCredentials()
}
