/**
 * What the social providers have in common.
 *
 * @module
 */

import type { Fields } from '../../ports/store.ts'
import type { SingleUse } from './used-tokens.ts'

/** What a provider says of the person who signs in. */
export interface Profile {
  /** The provider's own id of the account. */
  readonly id: string
  readonly email?: string
  /** Whether the provider itself vouches for the address; nothing else links accounts. */
  readonly emailVerified?: boolean
  readonly name?: string
}

/** A profile, and the token that may sign in once only. */
export interface Verified extends Profile {
  readonly once?: SingleUse
}

/** What every provider's settings may hold. */
export interface ProviderOptions {
  /** False leaves the provider out. Default true. */
  readonly enabled?: boolean
  /** The stored field. Default `<provider>Id`. */
  readonly idField?: string
  /** Other URLs than the provider's own, for tests and gateways: by name, or one origin for all of them. */
  readonly endpoints?: string | Readonly<Record<string, string>>
}

/** Google and Apple: id tokens. */
export interface IdTokenOptions extends ProviderOptions {
  /** The audience that tokens must have; several for an app on several platforms. */
  readonly clientId: string | readonly string[]
  /** Default: the provider's. It must begin with `https:`; on this machine, for tests, `http:` will do. */
  readonly jwksUrl?: string
  /**
   * How the body's `nonce` and the token's claim are compared. `'checked'`, the default: where one of them is there, both
   * must be, and be the same (or the claim the SHA-256 of the body's, in hex, as Apple's SDK has it). `'required'`:
   * both must be there. `'hashed'`: both must be there, and the claim is the SHA-256 of the body's, as Apple's SDK has it;
   * so who has a token alone cannot use it. `'ignored'`: for clients whose SDK sets a nonce that they cannot learn.
   */
  readonly nonce?: 'checked' | 'required' | 'hashed' | 'ignored'
}

/** Facebook: access tokens. */
export interface FacebookOptions extends ProviderOptions {
  readonly appId: string
  readonly appSecret: string
}

/** GitHub: access tokens, or codes of the web flow. */
export interface GithubOptions extends ProviderOptions {
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri?: string
}

/** A provider of the deployer's own. */
export interface CustomOptions extends ProviderOptions {
  /** Gives the profile of a genuine credential; throwing, or giving nothing, refuses the sign-in. */
  verify(body: Fields, settings: CustomOptions): Profile | undefined | Promise<Profile | undefined>
}

/** Social sign-in by the provider's name. */
export interface SocialOptions {
  readonly google?: IdTokenOptions
  readonly apple?: IdTokenOptions
  readonly facebook?: FacebookOptions
  readonly github?: GithubOptions
  /**
   * What becomes of a password that was set on an account whose mailbox nobody has proven, when the owner of
   * the mailbox signs in through a provider: it is dropped, with all sessions, the links of other providers and the
   * phone number or second address that codes go to (`'reset'`, the default), stays (`'keep'`), or the sign-in is
   * refused (`'refuse'`).
   */
  readonly linking?: 'reset' | 'keep' | 'refuse'
  readonly [name: string]:
    | CustomOptions
    | IdTokenOptions
    | FacebookOptions
    | GithubOptions
    | 'reset'
    | 'keep'
    | 'refuse'
    | undefined
}

/** A provider as the social route uses it. */
export interface Provider {
  readonly name: string
  /** The stored field of the provider's id. */
  readonly idField: string
  /** The members of the body that hold the credential; one of them is needed. */
  readonly credentials: readonly string[]
  /** Further members of the body that must be strings where they are given. */
  readonly companions?: readonly string[]
  /** Whether its tokens sign in once only. */
  readonly singleUse?: boolean
  /** The profile behind a credential. Throws 401 or 503. */
  profile(body: Fields, now: () => number): Promise<Verified>
}
