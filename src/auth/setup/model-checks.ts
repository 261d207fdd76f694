/** Checks that the user model has what the options need, and keeps its secrets. */

import { isHidden, type Model } from '../../model/model.ts'
import { noSuchField } from '../../model/suggest.ts'
import { isForbiddenKey } from '../../model/writable.ts'
import { isSameContent } from '../../ports/evaluation/evaluate.ts'
import type { Shape } from '../../ports/store/shape.ts'
import { fail } from '../option-checks.ts'
import { channelsThere, isThere } from './delivery-settings.ts'
import { codeFields, RESET_CODES, SECRET_KINDS, SECRETS, type SecretName } from './field-names.ts'
import type { IdentifierKind } from './identifiers.ts'
import type { AuthSettings } from './settings.ts'

type Kind = Shape['kind']

export function checkModel(settings: AuthSettings): void {
  const { model, providers, identifiers } = settings
  const uniques = [
    ...identifiers.map(({ field }) => [field, 'identifiers'] as const),
    ...[...providers.values()].map(({ name, idField }) => [idField, `social.${name}`] as const),
  ]
  for (const [field, why] of uniques) {
    checkField(model, [field, 'string', why])
    // On every store these are sparse, so that accounts without the field do not clash.
    if (!model.unique.some((set) => set.length === 1 && set[0] === field)) {
      fail(`the model '${model.name}' needs '${field}' in its 'unique', for ${why}`)
    }
  }
  for (const need of needs(settings)) checkField(model, need)
  for (const secret of SECRETS) {
    const field = settings.names[secret]
    const shown = model.shape.fields.has(field) && !isHidden(model, field)
    // The time of a password change is left out of responses anyway.
    if (shown && secret !== 'passwordChangedAt') {
      fail(
        `'${field}' of the model '${model.name}' is a secret: take it from userFields(), or name it in the model's 'hidden'`,
      )
    }
  }
}

type Need = readonly [field: string, kind: Kind, why: string]

/** How a model declares the kinds of secret that are no shapes. */
const DECLARED: Readonly<Record<string, Kind>> = {
  ...{ count: 'number', clients: 'list', tries: 'list', sessions: 'list' },
}

function needs(settings: AuthSettings): readonly Need[] {
  const { names, refresh, paths, roles, disabledField, model, emailVerification } = settings
  const secrets = (why: string, ...named: readonly SecretName[]) =>
    named.map((name): Need => {
      const kind = SECRET_KINDS[name]
      return [names[name], DECLARED[kind] ?? (kind as Kind), why]
    })
  // A model may lack these; see guessAdvice.
  const optional = [
    ...secrets('lockout', 'wrongPasswords'),
    ...secrets('guesses per client', 'knownClients', 'knownTries'),
    ...secrets('second steps', 'answerAttempts', 'answersLockedUntil'),
  ]
  const isGuessed = paths.has('login') || paths.has('changePassword')
  const verification = 'emailVerification; pass it to userFields() too'
  const codes = codeFields('verification')
  // `otp.deliver` may send them by mail and by SMS.
  const sent = isThere(settings, 'sms') ? RESET_CODES : (['email'] as const)
  const reset = canReset(settings) ? sent : []
  return [
    ...secrets('passwords', 'password'),
    [names.role, roles.multiple ? 'list' : 'string', 'roles'],
    ...secrets('password changes', 'passwordChangedAt'),
    ...(isGuessed ? secrets('lockout', 'failedLoginAttempts', 'lockedUntil') : []),
    ...optional.filter(([field]) => model.shape.fields.has(field)),
    ...(reset.length > 0 ? secrets('one-time codes', 'otpPurpose') : []),
    ...reset.flatMap((kind) => secrets(`one-time codes (${kind})`, ...codeFields(kind))),
    ...(reset.length > 0 ? addressNeeds(settings) : []),
    ...(emailVerification.enabled
      ? secrets(verification, 'provenEmail', 'pendingEmail', ...codes)
      : []),
    ...(refresh ? secrets('refresh.enabled', 'refreshTokens') : []),
    ...(disabledField ? [[disabledField, 'boolean', 'fields.disabled'] as const] : []),
    ...(settings.methods.length > 0 ? secrets('methods', 'takeovers', 'keysEndedAt') : []),
  ]
}

function addressNeeds({ delivery: { mail, sms, toField } }: AuthSettings): readonly Need[] {
  const byMail: readonly Need[] = mail ? [[toField.email, 'string', 'mail.toField']] : []
  return sms ? [...byMail, [toField.sms, 'string', 'sms.toField']] : byMail
}

/** Whether there are identifiers of a kind that a code, a provider or a method can prove. */
export function isProvable(settings: AuthSettings, kind: IdentifierKind): boolean {
  const { delivery, names, providers, methods, identifiers } = settings
  if (kind === 'name' || !identifiers.some((identifier) => identifier.kind === kind)) return false
  const channel = kind === 'email' ? 'email' : 'sms'
  const isSent = isThere(settings, channel) && delivery.toField[channel] === names[kind]
  const isVouched = providers.size > 0 || methods.some(({ provesEmail }) => provesEmail)
  return isSent || (kind === 'email' && isVouched)
}

export function canReset({ delivery, paths }: AuthSettings): boolean {
  const sends = delivery.deliver ?? delivery.mail ?? delivery.sms
  return sends !== undefined && (paths.has('forgotPassword') || paths.has('resetPassword'))
}

/** A warning about what works with the model, but not well, with the line that fixes it. */
export function modelAdvice(settings: AuthSettings): string | undefined {
  const { model, names, providers, linking, identifiers } = settings
  const links = providers.size > 1 && identifiers.some(({ kind }) => kind === 'email')
  if (!links || linking !== 'reset' || model.shape.fields.has(names.provenEmail)) return undefined
  return `the model has no field for proven mailboxes, so a provider that links an account drops its earlier link, its sessions and its password. Write in defineModel('${model.name}', …): fields: { ...userFields({ social, … }) }, which has '${names.provenEmail}'`
}

/** A warning about a model that cannot count wrong passwords beyond a lock. */
export function guessAdvice({ model, names, paths }: AuthSettings): string | undefined {
  if (!paths.has('login') || model.shape.fields.has(names.wrongPasswords)) return undefined
  return `the model has no field '${names.wrongPasswords}', so nothing ends password sign-in after 100 wrong passwords in a row. Write in defineModel('${model.name}', …): fields: { ...userFields(…) }, which has it`
}

/** The stored fields that only the auth routes write. */
export function guardedFields(settings: AuthSettings): readonly string[] {
  const { model, names, providerFields } = settings
  const fields = [...SECRETS.map((name) => names[name]), names.role, ...providerFields]
  return [...new Set(fields)].filter((field) => model.shape.fields.has(field))
}

/**
 * The fields that no record router may let clients write: also identifiers, and addresses to which codes go. They need
 * the password to change.
 */
export function protectedFields(settings: AuthSettings): readonly string[] {
  const { model, delivery } = settings
  const identifiers = settings.identifiers.map(({ field }) => field)
  const addresses = channelsThere(settings)
    .map((channel) => delivery.toField[channel])
    .filter((field) => model.shape.fields.has(field))
  return [...new Set([...guardedFields(settings), ...identifiers, ...addresses])]
}

/** Refuses lists that would let clients write what only the auth routes write, or see what is hidden. */
export function checkFieldLists(settings: AuthSettings): void {
  const { model, identifiers, registerFields, updateFields, visibleFields = [] } = settings
  // A client that may write it could enable or disable an account.
  const guarded = [...guardedFields(settings), settings.disabledField]
  const isWritable = (field: string) => !guarded.includes(field) && !isForbiddenKey(field)
  const check = (
    option: string,
    fields: readonly string[],
    may: (field: string) => boolean,
    why: string,
  ) => {
    for (const field of fields) {
      if (!may(field)) fail(`'${option}' names '${field}', ${why}`)
      if (!model.shape.fields.has(field)) fail(noSuchField(option, field, model))
    }
  }
  for (const { field } of identifiers) {
    if (!isWritable(field)) fail(`'identifiers' names '${field}', which no client may write`)
  }
  check('registerFields', registerFields, isWritable, 'which no client may write')
  check('updateFields', updateFields, isWritable, 'which no client may write')
  check('visibleFields', visibleFields, (field) => !isHidden(model, field), 'which is hidden')
}

function checkField(model: Model, [field, kind, why]: Need): void {
  const shape = model.shape.fields.get(field)
  if (!shape) {
    const how = /^fields|toField$/.test(why)
      ? 'declare it there'
      : 'userFields() adds it if it gets the options of createAuthRouter'
    fail(`the model '${model.name}' needs the field '${field}' for ${why}; ${how}`)
  }
  if (shape.kind !== kind) {
    fail(`'${field}' of the model '${model.name}' must be a ${kind}, for ${why}`)
  }
}

interface Mounted {
  readonly mount: string
  readonly settings: AuthSettings
}

const routers = new WeakMap<object, readonly Mounted[]>()

/** What the routers of one model must have in common, by option. */
function rules({ settings }: Mounted): Readonly<Record<string, unknown>> {
  return {
    identifiers: settings.identifiers.map(({ field, own }) => [field, own]),
    fields: { ...settings.names, disabled: settings.disabledField },
    lockout: settings.lockout,
    emailVerification: settings.emailVerification,
    onLogin: settings.onLogin,
    methods: settings.methods.map(({ name, part }) => part ?? name),
    secondFactor: settings.requiredFor,
    // An identifier that is proven at one of them must not count as claimed at the other, where less can prove it.
    mail: isProvable(settings, 'email'),
    sms: isProvable(settings, 'phone'),
  }
}

/** Says that the app has the guard `name` at `place`, but not the router that it is from. */
export function unmounted(name: string, place: string, host: object): string {
  const mounts = (routers.get(host) ?? []).map(({ mount }) => `'${mount}'`)
  const other =
    mounts.length > 0 ? `, or take the guard from the one on ${mounts.join(' or ')}` : ''
  return `the app does not mount the auth router whose guard '${name}' is in ${place}. Write app.mount('/auth', auth.router)${other}`
}

/** Notes a router of the app `host`. Throws a `TypeError` if it differs from another one of its model. */
export function checkAgreement(host: object, mounted: Mounted): void {
  const { settings, mount } = mounted
  const others = routers.get(host) ?? []
  routers.set(host, [...others, mounted])
  for (const other of others) {
    const [own, theirs] = [rules(mounted), rules(other)]
    const option = Object.keys(own).find((name) => !isSameContent(own[name], theirs[name]))
    if (other.settings.model !== settings.model || option === undefined) continue
    throw new TypeError(
      `Auth: '${option}' of the router at '${mount}' differs from that at '${other.mount}', and both are for '${settings.model.name}': what one of them demands, the other would leave open. Give both the same`,
    )
  }
}
