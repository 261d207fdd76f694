/**
 * What works methods, and the accounts of an auth router as its methods see them. `defineMethod` puts it into each, so the
 * bundle of an app without methods has none of it.
 */

import { base64url, bytesIn } from '../http/base64url.ts'
import { checkTime } from '../http/deadline.ts'
import type { ApiRequest } from '../http/request/request.ts'
import { idMaker } from '../model/values/cast.ts'
import type { Fields } from '../ports/store/records.ts'
import { createProven } from './accounts/create-account.ts'
import {
  chosenFields,
  identifierString,
  namedAccount,
  readBody,
  valueFor,
} from './accounts/credentials.ts'
import { addressOf, isSent, respondFirst } from './delivery/code-requests.ts'
import { tell, tellOfEnded } from './delivery/messages.ts'
import { presentUser } from './guards.ts'
import { Factors, isRecent, isStrong } from './instance/factors.ts'
import type { Asked, Auth, AuthRequest, Machinery } from './instance/instance.ts'
import { isSealed, type Keys, keyOf, keysFor, seal } from './keys/signing.ts'
import * as refuse from './refusals.ts'
import { type Access, handlerOf, report, requestInfo } from './request-info.ts'
import { login, signInBy } from './routes/login.ts'
import { channelsThere, isThere } from './setup/delivery-settings.ts'
import type { Accounts, Method, MethodDefinition, MethodRoute, SentCode } from './setup/method.ts'
import { canReset } from './setup/model-checks.ts'
import { confirmSession } from './sign-in.ts'

/** Confirms the present session by what signs in to its account; every app with methods has it. */
const confirmRoute = methodRoute('confirmLogin', 'POST /login/confirm', 'signed in', {
  enrols: true,
  hidesAccounts: true,
  summary: 'Makes the present session recent, by what signs in to its account',
  refusals: [refuse.invalidCredentials(), refuse.invalidTicket(), refuse.notActive()],
})

const machinery: Machinery = {
  routes: [confirmRoute],
  accountsFor,
  confirmSession,
  factorsOf(auth) {
    const factors = auth.methods.flatMap(({ secondFactors = [] }) => secondFactors)
    return new Factors(factors, auth)
  },
  handlerOf(auth, route) {
    if (route === confirmRoute) return handlerOf(auth, (at) => login(at, at.request.auth?.userId))
    const { name } = route
    const [handler] = auth.methods.flatMap(({ handlers }) =>
      Object.hasOwn(handlers, name) ? [handlers[name]] : [],
    )
    if (!handler) throw new TypeError(`Auth: 'methods' has a route '${name}' without a handler`)
    return (request) => handler(request)
  },
}

/** A route of a method: `at` is its HTTP method and its path. */
export function methodRoute(
  name: string,
  at: `${MethodRoute['method']} /${string}`,
  access: Access,
  more: Omit<MethodRoute, 'name' | 'method' | 'path' | 'access'>,
): MethodRoute {
  const [method, path] = at.split(' ') as [MethodRoute['method'], string]
  return { name, method, path, access, ...more }
}

/**
 * Makes a way to sign in of your own, for the option `methods` of `createAuthRouter`.
 *
 * ```ts
 * const links = defineMethod({ name: 'links', routes: [], open: () => ({ handlers: {} }) })
 * const auth = createAuthRouter({ model: User, token: { secret }, methods: [links] })
 * ```
 */
export function defineMethod<const N extends string>(method: MethodDefinition<N>): Method<N> {
  return { ...method, machinery }
}

export function accountsFor(auth: Auth, name: string): Accounts {
  const { settings, users, host, mount } = auth
  // At any route: a `bearer` reads there, and the app's own handlers may.
  const asked = (request: ApiRequest): Asked => ({ ...auth, request })
  const at = (request: ApiRequest): AuthRequest => ({ ...auth, ...requestInfo(request) })
  const keysOf = (mount: string) =>
    keysFor(settings.token.secret, { model: settings.model.name, mount }, `method ${name}`)
  const [own, shared] = [keysOf(mount || '/'), keysOf('')]
  const keys = { current: own.current, all: [...own.all, ...shared.all] }
  const keysBy = (by?: 'model') => (by ? shared : own)
  const newId = idMaker(users.now)
  const era = (user: Fields) => String(user[users.names.takeovers] ?? 0)
  const { email } = users.names
  const keepsMailProof = auth.identifiers.isProvable(email) && auth.identifiers.keepsProof(email)
  return {
    ...{ model: settings.model, mount, host, logger: auth.logger, now: users.now },
    path: (route) => settings.paths.get(route) ?? '',
    collection: (model) => host.engine(model).stored,
    newId: () => newId('objectId'),
    labelOf: (user) => labelOf(auth, user),
    seal: (text, by) => seal(keysBy(by).current, text),
    isSealed: (sealed, text) => isSealed(keys, sealed, text),
    encrypt: (text, bound, by) => encrypted(keysBy(by), text, bound),
    decrypt: (sealed, bound) => decrypted(keys, sealed, bound),
    era,
    activeEra(user) {
      const at = user[users.names.keysEndedAt]
      return `${era(user)}.${at instanceof Date ? at.getTime() : 0}`
    },
    codeState: (user) =>
      JSON.stringify([era(user), users.changedAt(user), user[users.names.email]]),
    otp: settings.otp,
    keepsMailProof,
    provesMail:
      keepsMailProof &&
      isThere(settings, 'email') &&
      settings.delivery.toField.email === users.names.email,
    newcomer: (body) => newcomer(auth, body),
    create(address, body, request, more) {
      const chosen = chosenFields(at(request), body, settings.registerFields)
      return createProven(at(request), chosen, address, more)
    },
    hasProven: (user) => auth.identifiers.isProven(user, email),
    isKnown: (user, request) => auth.clients.isKnown(user, at(request).client),
    pretendWrite: () => auth.dummyWrite(),
    body: (request) => readBody(asked(request)),
    byId: (id) => users.byToken(String(id)),
    named: (body, own) => namedAccount(auth, body, own),
    isDisabled: (user) => users.isDisabled(user),
    isLocked: (user, request) => auth.lockout.isLocked(user, at(request).client),
    sendCode: (request, find, make) => sendCode(at(request), find, make),
    prove: (user, request, own) => prove(at(request), user, own),
    recent: (request) => signedIn(asked(request), isRecent),
    strong: (request) => signedIn(asked(request), isStrong),
    useOnce: (text, expiresAt) => useOnce(auth, name, text, expiresAt),
    checkWayLeft: (user) => checkWayLeft(auth, user),
    async checkFactorLeft(user) {
      const { factors } = auth
      const isLeft = !factors?.isRequired(user) || (await factors.of(user, true)).length > 0
      if (!isLeft) throw refuse.lastFactor()
    },
    signIn: (user, request, signIn) => signInBy(at(request), user, signIn),
    report: (request, ...event) => report(at(request), ...event),
    tell: (user, purpose, request, provider) => tell(at(request), user, purpose, provider),
  }
}

function labelOf({ settings, names }: Auth, user: Fields): string {
  const fields = settings.identifiers.map(({ field }) => field)
  const called = [...fields, names.email, names.phone, names.name].find((field) => user[field])
  return String(user[called ?? '_id'])
}

async function useOnce(
  { usedTokens }: Auth,
  name: string,
  text: string,
  expiresAt: number,
): Promise<boolean> {
  const isNew = await usedTokens?.use({ signed: JSON.stringify([name, text]), expiresAt })
  // What is used up must not be so in vain, because something else could not be removed.
  await usedTokens?.sweep().catch(() => {})
  return isNew !== undefined
}

/** The signed-in user, if what they have signed in with is enough, of the second factors that they have. Throws a 401 or 403. */
async function signedIn(auth: Asked, isEnough: typeof isRecent): Promise<Fields> {
  const user = await presentUser(auth)
  const factors = (await auth.factors?.of(user)) ?? []
  if (!isEnough(auth, user, factors)) throw refuse.recentSignInRequired()
  checkTime(auth.request)
  return user
}

/** A password, a code that resets it, or a method; providers are one. */
async function checkWayLeft(auth: Auth, user: Fields): Promise<void> {
  const { settings, users, identifiers, methods } = auth
  const channels = channelsThere(settings)
  const isReset =
    canReset(settings) &&
    channels.some((channel) => {
      const field = settings.delivery.toField[channel]
      // Whoever mistypes an address gets no code there.
      const isTheirs = identifiers.keepsProof(field)
        ? identifiers.isProven(user, field)
        : identifiers.mayIdentify(user, field)
      return isTheirs && typeof user[field] === 'string'
    })
  if (isReset || typeof user[users.names.password] === 'string') return
  const opens = await Promise.all(methods.map((method) => method.opens?.(user)))
  if (!opens.includes(true)) throw refuse.lastWayIn()
}

/** Mails what `make` returns for the account that `find` finds, once the response is on its way. */
function sendCode(
  auth: AuthRequest,
  find: () => Promise<Fields | undefined>,
  make: (user: Fields) => Promise<SentCode | undefined>,
): Promise<Response> {
  return respondFirst(auth, ['email'], async () => {
    const user = await find()
    const to = user && !auth.users.isDisabled(user) && addressOf(auth, user, ['email'])?.to
    const made = to ? await make(user) : undefined
    if (!to || !made) return false
    const issued = { kind: 'signInCode', user, ...made } as const
    if (!(await isSent(auth, issued, to))) await made.takeBack?.()
    return true
  })
}

function newcomer({ settings, users }: Auth, body: Fields): Fields | undefined {
  const { email: field } = users.names
  const mail = settings.identifiers.find((identifier) => identifier.field === field)
  const typed = identifierString(body, 'identifier') || (mail && valueFor(body, mail))
  const value = typeof typed === 'string' ? mail?.normalize(typed) : undefined
  return value?.isWellFormed() ? { [field]: value } : undefined
}

async function prove(
  auth: AuthRequest,
  user: Fields,
  own: string | undefined,
): Promise<Fields | undefined> {
  const { users, identifiers, sessions, client } = auth
  const { email: field } = users.names
  if (!identifiers.mayIdentify(user, field) || typeof user[field] !== 'string') return undefined
  if (identifiers.isProven(user, field)) return user
  const expect = {
    ...users.passwordState(user),
    ...identifiers.stateOf(user),
    [field]: user[field],
    ...(own !== undefined && { [sessions.field]: user[sessions.field] }),
  }
  const sessionId = auth.request.auth?.claims?.sid as string | undefined
  const signedIn = { sessionId, client }
  const change = identifiers.takeover(user, { field, ...(own !== undefined && { signedIn }) })
  const after = await users.update(user._id, { ...change, expect, filter: users.enabled })
  if (!after) return undefined
  report(auth, 'email-verified', user._id)
  await tellOfEnded(auth, user, after)
  return after
}

const IV_BYTES = 12

/** AES-256-GCM under the first secret: `<key id>.<IV and text>`. */
async function encrypted({ current }: Keys, text: string, bound: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const sealed = await crypto.subtle.encrypt(
    parameters(iv, bound),
    await cipherKey(current.mac, 'encrypt'),
    new TextEncoder().encode(text),
  )
  return `${current.id}.${base64url(new Uint8Array([...iv, ...new Uint8Array(sealed)]))}`
}

async function decrypted(keys: Keys, sealed: unknown, bound: string): Promise<string | undefined> {
  const key = keyOf(keys, sealed)
  const text = String(sealed).slice((key?.id.length ?? 0) + 1)
  const bytes = key && bytesIn(text)
  // Other strings decode to the same bytes; what may be used once has one spelling.
  if (!bytes || base64url(bytes) !== text) return undefined
  try {
    const text = await crypto.subtle.decrypt(
      parameters(bytes.slice(0, IV_BYTES), bound),
      await cipherKey(key.mac, 'decrypt'),
      bytes.slice(IV_BYTES),
    )
    return new TextDecoder().decode(text)
  } catch {
    return undefined
  }
}

function parameters(iv: Uint8Array<ArrayBuffer>, bound: string): AesGcmParams {
  return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(bound) }
}

function cipherKey(mac: Keys['current']['mac'], use: 'encrypt' | 'decrypt'): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', mac('encryption').slice(), 'AES-GCM', false, [use])
}
