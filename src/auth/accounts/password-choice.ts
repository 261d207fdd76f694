/**
 * Which passwords may be chosen (ASVS 5.0, 6.2.4, 6.2.11): no common ones, none built from the account's own
 * identifiers or the app's name, and none that `password.check` refuses. And what a new one changes: all in one conditional
 * step, so that no one ever sees a part of it.
 *
 * What depends only on the request is checked before the store is called, so it reveals nothing about accounts; what
 * depends on the account is checked once the request has shown that it may change it.
 */

import { unavailable } from '../../http/errors/outages.ts'
import { runShielded } from '../../http/request/shield.ts'
import { withTimeout } from '../../ports/promises/with-timeout.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Change } from '../../ports/store/store.ts'
import { fold } from '../../ports/values/fold.ts'
import { presentUser } from '../guards.ts'
import { isRecent } from '../instance/factors.ts'
import type { Auth, AuthRequest } from '../instance/instance.ts'
import { together } from '../instance/users.ts'
import type { Asker } from '../keys/hashing.ts'
import * as refuse from '../refusals.ts'
import type { AuthSettings } from '../setup/settings.ts'
import { guessPassword } from '../sign-in.ts'
import { checkPasswordSize, credential } from './credentials.ts'

const DEADLINE_MS = 5000
/** Between the parts of a number or a name. */
const SEPARATORS = /[\s().+-]/g
/** Shorter words are in many good passwords. */
const MIN_WORD_LENGTH = 4
/** How many more characters a password with such a word must have. */
const MIN_OTHER_CHARACTERS = 6

/** Refuses a password that is common, or built from `words` or the app's name. Throws a 400. Depends on nothing stored. */
export async function checkChoice(
  { passwords, settings }: Auth,
  plain: string,
  words: readonly unknown[],
): Promise<void> {
  const folded = fold(plain.normalize('NFKC'))
  if (await passwords.isCommon(folded)) throw refuse.passwordTooCommon()
  const { appName } = settings.delivery
  const texts = new Set([...words, appName].filter((word) => typeof word === 'string'))
  const pieces = [...new Set([...texts].flatMap(partsOf))]
  const forms = [...new Set([folded, folded.replace(SEPARATORS, '')])]
  if (forms.some((form) => isBuiltFrom(form, pieces))) throw refuse.passwordTooPersonal()
}

/** Runs `password.check`, and compares with the account's stored values. Throws a 400. */
export async function checkChoiceOf(auth: AuthRequest, plain: string, user: Fields): Promise<void> {
  const { settings, users, request } = auth
  await checkChoice(auth, plain, identifiersIn(settings, user))
  const { check } = settings.password
  if (!check) return
  const context = { request, user: users.withoutSecrets(user) }
  const checked = async () => runShielded(request, () => check(plain, context))
  const verdict: unknown = await withTimeout(DEADLINE_MS, checked, unavailable)
  if (typeof verdict === 'string' && verdict !== '') throw refuse.passwordRejected(verdict)
}

/** The values of a record, or of a body, that identify its account. */
export function identifiersIn({ identifiers }: AuthSettings, record: Fields): readonly unknown[] {
  return identifiers.flatMap(({ field, name }) => [record[field], record[name]])
}

/** The parts of a string that passwords are built from: all of it, an address's parts, a number's digits. */
function partsOf(text: string): readonly string[] {
  const whole = fold(text.trim().normalize('NFKC'))
  const [local = '', domain] = whole.split('@')
  const digits = whole.replace(SEPARATORS, '')
  return [whole, local, ...(domain === undefined ? [] : [domain]), digits]
}

/** Whether `password` is one of `words`, or has too few other characters. */
function isBuiltFrom(password: string, words: readonly string[]): boolean {
  return words.some((word) => {
    if (word === '') return false
    if (password === word) return true
    if ([...word].length < MIN_WORD_LENGTH || !password.includes(word)) return false
    return [...password.replaceAll(word, '')].length < MIN_OTHER_CHARACTERS
  })
}

/**
 * The change by which the client sets the password behind `hash` for `user`. It ends every session, access tokens and
 * pending codes, clears the lockout, and forgets all known clients except this one.
 */
export function passwordChange(
  { users, sessions, clients, codes, lockout, client }: AuthRequest,
  user: Fields,
  hash: string,
): Change & { readonly set: Fields } {
  const { names } = users
  return {
    set: {
      ...lockout.cleared.set,
      ...sessions.allEnded,
      ...clients.only(user, client),
      [names.password]: hash,
      [names.passwordChangedAt]: users.nextChange(user),
    },
    // Someone else may have requested another address, not the person who knows the new password.
    unset: [...lockout.cleared.unset, ...codes.allEnded, ...users.declared([names.pendingEmail])],
  }
}

/**
 * The change for a right code that went to the address in `field`: like `passwordChange`, and if it is the first proof on
 * the account, only what it proves stays. Undefined if the address opens nothing any more.
 */
export function resetChange(
  auth: AuthRequest,
  field: string,
  user: Fields,
  hash: string,
): Change | undefined {
  const { identifiers, users } = auth
  const change = passwordChange(auth, user, hash)
  if (!identifiers.mayIdentify(user, field)) return undefined
  if (!identifiers.isProvable(field) || identifiers.isProven(user, field)) return change
  const taken = together(identifiers.takeover(user, { field }), change)
  const gone = new Set(taken.unset)
  gone.delete(users.names.password)
  return { ...taken, unset: [...gone] }
}

/**
 * Checks `currentPassword` in `body` for the signed-in user; a wrong one counts towards the lockout. Who is asked for a
 * second factor must have shown it a short time ago: with another address, the account could be reset without it. Who
 * has no password must have signed in a short time ago, with a factor if there is one. Returns the user as checked: the
 * write that follows must expect its `passwordState`. Throws a 401 or 403.
 */
export async function reauthenticate(auth: AuthRequest, body: Fields): Promise<Fields> {
  const { users, lockout, hashing } = auth
  const user = await presentUser(auth)
  const hasPassword = typeof user[users.names.password] === 'string'
  const factors = (await (hasPassword ? auth.factors?.asked(user) : auth.factors?.of(user))) ?? []
  const mustBeRecent = factors.length > 0 || !hasPassword
  if (mustBeRecent && !isRecent(auth, user, factors)) throw refuse.recentSignInRequired()
  if (!hasPassword) return user
  const current = credential(body, 'currentPassword')
  if (current === undefined || current === '') throw refuse.currentPasswordRequired()
  if (current !== null) checkPasswordSize(current)
  const guess = await hashing.admit(() => guessPassword(auth, user, current), signedInAsker(auth))
  if (!guess.isRight) throw refuse.currentPasswordIncorrect()
  await lockout.takeBack(guess.reservation, 'clear')
  return guess.reservation.user
}

/** The `Asker` of a request behind `requireAuth`: the token shows that the client belongs to the account. */
export function signedInAsker({ client, request }: AuthRequest): Asker {
  return { client, account: String(request.auth?.userId), isKnown: () => true }
}
