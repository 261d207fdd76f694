/**
 * The seam for tokens of another service, which are accepted beside our own during a move from there, and never issued.
 *
 * @module
 */

import type { AcceptToken } from '../keys/access-tokens.ts'
import type { TokenSettings } from '../setup/token-settings.ts'
import type { ReadToken, RefreshTokens } from './refresh-token-state.ts'

/** Reads the tokens of another service. */
export interface AcceptedTokens {
  readonly accessToken: AcceptToken
  /** Reads refresh tokens, our own and those of the service. */
  refreshTokens(own: RefreshTokens): ReadToken
}

/** A service whose tokens are accepted. */
export interface AcceptedService {
  /** `now` returns epoch milliseconds. */
  tokens(now: () => number): AcceptedTokens
  /** Start-up warnings about its options. */
  adviceFor(token: TokenSettings): readonly (string | undefined)[]
}
