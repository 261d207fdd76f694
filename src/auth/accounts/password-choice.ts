/**
 * Which passwords may be chosen (ASVS 5.0, 6.2.4, 6.2.11): no common ones, none built from the account's own
 * identifiers or the app's name, and none that `password.check` refuses. And what a new one changes: all in one conditional
 * step, so that no one ever sees a part of it.
 *
 * What depends only on the request is checked before the store is called, so it reveals nothing about accounts; what
 * depends on the account is checked once the request has shown that it may change it.
 */

import { unavailable } from '../../http/outages.ts'
import type { ApiRequest } from '../../http/request.ts'
import { runShielded } from '../../http/shield.ts'
import { fold } from '../../ports/fold.ts'
import type { Change, Fields } from '../../ports/store.ts'
import { withTimeout } from '../../ports/with-timeout.ts'
import { passwordRejected, passwordTooCommon, passwordTooPersonal } from '../refusals.ts'
import type { AuthSettings } from '../setup/settings.ts'
import type { AccountParts } from './proven-identifiers.ts'

/** How long `password.check` may take. */
const DEADLINE_MS = 5000
/** Shorter words are in many good passwords. */
const MIN_WORD_LENGTH = 4
/** How many more characters a password with such a word must have. */
const MIN_OTHER_CHARACTERS = 6

/** Refuses a password that is common, or built from `words` or the app's name. Throws a 400. Depends on nothing stored. */
export async function checkChoice(
  { passwords, settings }: AccountParts,
  plain: string,
  words: readonly unknown[],
): Promise<void> {
  const folded = fold(plain.normalize('NFKC'))
  if (await passwords.isCommon(folded)) throw passwordTooCommon()
  const { appName } = settings.delivery
  const texts = new Set([...words, appName].filter((word) => typeof word === 'string'))
  const parts = [...new Set([...texts].flatMap(partsOf))]
  const forms = [...new Set([folded, withoutSeparators(folded)])]
  if (forms.some((form) => isBuiltFrom(form, parts))) throw passwordTooPersonal()
}

/** Runs `password.check`, and compares with the account's stored values. Throws a 400. */
export async function checkChoiceOf(
  parts: AccountParts,
  plain: string,
  user: Fields,
  request: ApiRequest,
): Promise<void> {
  const { settings, users } = parts
  await checkChoice(parts, plain, identifiersIn(settings, user))
  const { check } = settings.password
  if (!check) return
  const context = { request, user: users.withoutSecrets(user) }
  const verdict: unknown = await withTimeout(
    DEADLINE_MS,
    async () => runShielded(request, () => check(plain, context)),
    unavailable,
  )
  if (typeof verdict === 'string' && verdict !== '') throw passwordRejected(verdict)
}

/** The values of a record, or of a body, that identify its account. */
export function identifiersIn({ identifiers }: AuthSettings, record: Fields): readonly unknown[] {
  return identifiers.flatMap(({ field, name }) => [record[field], record[name]])
}

/** The parts of a string that passwords are built from: all of it, an address's parts, a number's digits. */
function partsOf(text: string): readonly string[] {
  const whole = fold(text.trim().normalize('NFKC'))
  const [local = '', domain] = whole.split('@')
  return [whole, local, ...(domain === undefined ? [] : [domain]), withoutSeparators(whole)]
}

/** Without the separators between the parts of a number or a name. */
function withoutSeparators(text: string): string {
  return text.replace(/[\s().+-]/g, '')
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
 * The change by which `client` sets the password behind `hash` for `user`. It ends every session, access tokens and
 * pending codes, clears the lockout, and forgets all known clients except this one.
 */
export function passwordChange(
  { users, sessions, clients, codes, lockout }: AccountParts,
  user: Fields,
  hash: string,
  client: string | undefined,
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
  parts: AccountParts,
  field: string,
  user: Fields,
  hash: string,
  client: string | undefined,
): Change | undefined {
  const { identifiers, users } = parts
  const change = passwordChange(parts, user, hash, client)
  if (!identifiers.mayIdentify(user, field)) return undefined
  if (!identifiers.isProvable(field) || identifiers.isProven(user, field)) return change
  const { set, unset = [], ...more } = identifiers.takeover(user, { field })
  const { password } = users.names
  return {
    ...more,
    set: { ...set, ...change.set },
    unset: unset.filter((gone) => gone !== password),
  }
}
