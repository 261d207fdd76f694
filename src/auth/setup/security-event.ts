/**
 * Security events (ASVS 5.0, 16.3), as `onSecurityEvent` receives them. They contain no secret and no identifier in
 * clear: the user is given by the account's id, if there is an account.
 */

import type { MethodRouteName, RouteName } from './route-names.ts'

/** What can happen. */
export type SecurityEventType =
  | 'signed-in'
  | 'sign-in-failed'
  | 'locked'
  | 'signed-up'
  | 'password-changed'
  | 'password-reset'
  | 'code-sent'
  | 'code-failed'
  | 'session-ended'
  | 'token-reused'
  | 'roles-changed'
  | 'identifier-changed'
  | 'email-verified'
  | 'provider-linked'
  | 'provider-unlinked'
  | 'account-deleted'
  | 'factor-added'
  | 'factor-removed'
  | 'passkey-cloned'
  | 'key-added'
  | 'key-removed'

/** Something that happened to an account, or was tried. */
export interface SecurityEvent {
  readonly type: SecurityEventType
  /** When it happened, by the app's clock. */
  readonly at: Date
  /** The account's `_id`; missing if no account was meant, or none exists. */
  readonly userId?: string
  /** The client that sent the request, by the `client` option. */
  readonly client?: string
  readonly requestId: string
  /** The provider's name, if one was linked or unlinked. */
  readonly provider?: string
  /** The route's name, as in `routes`. */
  readonly route: RouteName | MethodRouteName
}

/** Receives events; an error that it throws is logged, and changes nothing. */
export type SecurityHook = (event: SecurityEvent) => unknown
