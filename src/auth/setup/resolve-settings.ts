/** The options of `createAuthRouter`, checked and with their defaults, as the routes read them. */

import type { Model } from '../../model/model.ts'
import type { Fields } from '../../ports/store/records.ts'
import { checkSimpleOptions } from '../../records/setup/option-checks.ts'
import {
  callable,
  type Environment,
  either,
  fail,
  group,
  settingsOf,
  strings,
  whole,
} from '../option-checks.ts'
import { enabledProviders, idFieldsOf, type Maker } from '../providers/provider.ts'
import { byAddress } from '../request-info.ts'
import { deliverySettings, isThere, noticesOf } from './delivery-settings.ts'
import { namesOf, PROVIDER_IDS, type StoredName, type StoredNames } from './field-names.ts'
import { identifiersOf } from './identifiers.ts'
import { checkFieldLists, checkModel } from './model-checks.ts'
import type { AuthOptions, PasswordOptions } from './options.ts'
import { roleSettings } from './roles.ts'
import {
  methodRoutes,
  methodsOf,
  middlewaresByRoute,
  type RouteRow,
  requiredForOf,
  routePaths,
} from './routes.ts'
import type { AuthSettings } from './settings.ts'
import { refreshSettings, tokenSettings } from './token-settings.ts'

const LIST_OPTIONS = ['maxLimit', 'defaultPageSize', 'maxTimeMS', 'countStrategy', 'lean'] as const
const ACCOUNT_OPTIONS =
  `model name token legacyTokens identifiers fields social refresh roles emailVerification registerFields
  updateFields methods secondFactor visibleFields password lockout otp mail sms notices appName routes middlewares client
  onRegister onLogin onSecurityEvent onDelete`.split(/\s+/)
const DAY_SECONDS = 86_400
const LOCKOUT = {
  maxAttempts: whole(10, 1, 1_000_000),
  lockSeconds: whole(900, 1, 30 * DAY_SECONDS),
  reveal: either(false),
}
const OTP = {
  length: whole(6, 4, 12),
  ttlSeconds: whole(600, 1, DAY_SECONDS),
  // A hundred guesses hit one of a million codes once in ten thousand times. NIST 800-63B allows no more failures.
  maxAttempts: whole(5, 1, 100),
  resendSeconds: whole(60, 0, DAY_SECONDS),
  deliver: callable,
}
/** Shorter ones are guessed; longer ones need not be required of anyone (ASVS 6.2.9 asks to allow 64). */
const PASSWORD_LENGTHS = [6, 64] as const

/**
 * Resolves the options; `own` are all possible routes but those of methods, `makers` make the providers. Throws a `TypeError` that starts with `Auth:` and names the
 * option. Without `env` it checks only what does not depend on the environment.
 */
export function resolveSettings(
  options: AuthOptions<never>,
  own: readonly RouteRow[],
  makers: ReadonlyMap<string, Maker>,
  env: Environment | undefined,
): AuthSettings {
  if (options === undefined) fail(`createAuthRouter() takes 'options', an object`)
  group('options', options, [...ACCOUNT_OPTIONS, ...LIST_OPTIONS])
  const methods = methodsOf(options.methods)
  const rows = [...own, ...methodRoutes(methods)]
  const model = options.model as unknown as Model
  const fields = options.fields as { readonly [Name in StoredName]?: string } | undefined
  if (!model?.shape) fail(`'model' must be a model made by defineModel`)
  const providers = enabledProviders(options.social, fields, makers)
  const names = namesOf({ fields, roles: options.roles })
  checkApart(names, fields?.disabled)
  const refresh = refreshSettings(options.refresh, env ?? {})
  const identifiers = identifiersOf(options.identifiers, names)
  const emailVerification = emailVerificationOf(options)
  const delivery = deliverySettings(options, names, env)
  const settings: AuthSettings = Object.freeze({
    model,
    names,
    disabledField: fields?.disabled,
    identifiers,
    token: tokenSettings(options.token),
    refresh,
    roles: roleSettings(options.roles),
    methods,
    requiredFor: requiredForOf(options),
    lockout: settingsOf<AuthSettings['lockout']>('lockout', options.lockout, LOCKOUT),
    otp: settingsOf<AuthSettings['otp']>('otp', options.otp, OTP),
    emailVerification,
    delivery,
    notices: noticesOf(options.notices, delivery, env),
    password: passwordSettings(options.password),
    providers,
    providerFields: [...idFieldsOf(options.social, fields), ...PROVIDER_IDS.map((id) => names[id])],
    linking: linkingOf(options.social?.linking),
    // Without the identifiers, which a sign-up takes anyway: as plain fields, empty ones would be stored.
    registerFields: (strings('registerFields', options.registerFields) ?? []).filter(
      (name) => !identifiers.some(({ field }) => field === name),
    ),
    updateFields: strings('updateFields', options.updateFields) ?? [],
    visibleFields: strings('visibleFields', options.visibleFields),
    paths: routePaths(rows, options.routes, {
      refresh: refresh !== undefined,
      emailVerification: emailVerification.enabled,
    }),
    middlewares: middlewaresByRoute(rows, options.middlewares),
    client: callable('client', options.client) ?? byAddress,
    onRegister: callable('onRegister', options.onRegister),
    onLogin: callable('onLogin', options.onLogin),
    onSecurityEvent: callable('onSecurityEvent', options.onSecurityEvent),
    onDelete: callable('onDelete', options.onDelete),
    list: listSettings(options, model),
  })
  checkFieldLists(settings)
  checkVerification(settings, env)
  checkModel(settings)
  return settings
}

function listSettings(options: AuthOptions<never>, model: Model): AuthSettings['list'] {
  const given = LIST_OPTIONS.filter((name) => options[name] !== undefined)
  const list = Object.fromEntries(given.map((name) => [name, options[name]]))
  checkSimpleOptions({ ...list, model: model as Model<Fields> }, fail)
  return list
}

/** Two values in one stored field would overwrite each other, e.g. a code's hash the password's. */
function checkApart(names: StoredNames, disabled: string | undefined): void {
  const { disabled: _, ...others } = names
  const stored = [...Object.values(others), ...(disabled === undefined ? [] : [disabled])]
  const twice = stored.find((field, index) => stored.indexOf(field) < index)
  if (twice !== undefined) fail(`'fields' maps two settings to the same field '${twice}'`)
}

function emailVerificationOf(options: AuthOptions<never>): AuthSettings['emailVerification'] {
  const settings = settingsOf<AuthSettings['emailVerification']>(
    'emailVerification',
    options.emailVerification,
    { enabled: either(false), required: either(false) },
  )
  if (settings.required && !settings.enabled) {
    fail(`'emailVerification.required' needs 'emailVerification.enabled'`)
  }
  return settings
}

/** Codes that prove a mailbox must have a way to it. Without the environment it is not known yet. */
function checkVerification(settings: AuthSettings, env: Environment | undefined): void {
  const { emailVerification, identifiers, delivery, names } = settings
  if (!emailVerification.enabled) return
  if (!identifiers.some(({ kind }) => kind === 'email')) {
    fail(`'emailVerification' needs '${names.email}' in 'identifiers'`)
  }
  if (delivery.toField.email !== names.email) {
    fail(`'emailVerification' needs mail to go to '${names.email}': take out 'mail.toField'`)
  }
  if (env && !isThere(settings, 'email')) fail(`'emailVerification' needs 'mail'`)
}

function passwordSettings(options: PasswordOptions | undefined): AuthSettings['password'] {
  const settings = settingsOf<AuthSettings['password']>('password', options, {
    minLength: whole(8, ...PASSWORD_LENGTHS),
    common: commonOf,
    check: (name, value) => callable(name, value as PasswordOptions['check']),
    hash: (name, value) => callable(name, value as PasswordOptions['hash']),
    verify: (name, value) => callable(name, value as PasswordOptions['verify']),
  })
  if ((settings.hash === undefined) !== (settings.verify === undefined)) {
    fail(`'password.hash' and 'password.verify' replace scrypt together`)
  }
  return settings
}

function commonOf(name: string, value: unknown = true): NonNullable<PasswordOptions['common']> {
  const common = value as NonNullable<PasswordOptions['common']>
  if (['boolean', 'function'].includes(typeof common)) return common
  if (typeof (common as Partial<ReadonlySet<string>> | null)?.has === 'function') return common
  return fail(`'${name}' must be a Set, a function that gives one, true or false`)
}

function linkingOf(value: unknown = 'reset'): AuthSettings['linking'] {
  if (value === 'reset' || value === 'keep' || value === 'refuse') return value
  return fail(`'social.linking' must be 'reset', 'keep' or 'refuse'`)
}
