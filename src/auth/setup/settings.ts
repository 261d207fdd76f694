/** The resolved options of `createAuthRouter`, as the routes read them; resolve-settings.ts makes them. */

import type { Model } from '../../model/model.ts'
import type { Guard } from '../../records/engine/route.ts'
import type { Provider } from '../providers/provider.ts'
import type { ClientOption, SecurityHook } from '../request-info.ts'
import type { NoticeKind, OtpOptions } from './delivery-options.ts'
import type { DeliverySettings } from './delivery-settings.ts'
import type { StoredNames } from './field-names.ts'
import type { Identifier } from './identifiers.ts'
import type { Method } from './method.ts'
import type {
  AuthOptions,
  EmailVerificationOptions,
  LockoutOptions,
  PasswordOptions,
} from './options.ts'
import type { RoleSettings } from './roles.ts'
import type { RefreshSettings, TokenSettings } from './token-settings.ts'

export interface AuthSettings {
  readonly model: Model
  readonly names: StoredNames
  /** The boolean field that blocks sign-in, if `fields.disabled` names one. */
  readonly disabledField: string | undefined
  readonly identifiers: readonly Identifier[]
  readonly token: TokenSettings
  /** Undefined if refresh tokens are off. */
  readonly refresh: RefreshSettings | undefined
  readonly roles: RoleSettings
  readonly lockout: Required<LockoutOptions>
  readonly otp: Required<Omit<OtpOptions, 'deliver'>>
  readonly emailVerification: Required<EmailVerificationOptions>
  readonly delivery: DeliverySettings
  readonly notices: ReadonlySet<NoticeKind>
  readonly password: Required<Pick<PasswordOptions, 'minLength' | 'common'>> & {
    readonly [K in 'check' | 'hash' | 'verify']: PasswordOptions[K]
  }
  readonly providers: ReadonlyMap<string, Provider>
  /** The fields of all providers' ids, also of those that are switched off. */
  readonly providerFields: readonly string[]
  readonly linking: 'reset' | 'keep' | 'refuse'
  readonly methods: readonly Method[]
  readonly requiredFor: readonly string[]
  readonly registerFields: readonly string[]
  readonly updateFields: readonly string[]
  readonly visibleFields: readonly string[] | undefined
  /** The enabled routes, in order, with their paths. */
  readonly paths: ReadonlyMap<string, string>
  /** Your guards for a route; without a name, those that all routes share. */
  readonly middlewares: (route?: string) => readonly Guard[]
  readonly client: ClientOption
  readonly onRegister: AuthOptions<never>['onRegister']
  readonly onLogin: AuthOptions<never>['onLogin']
  readonly onSecurityEvent: SecurityHook | undefined
  readonly onDelete: AuthOptions<never>['onDelete']
  /** The options of the resource router that apply to `GET /users`. */
  readonly list: Readonly<Record<string, unknown>>
}
