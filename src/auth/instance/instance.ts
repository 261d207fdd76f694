/**
 * An instance of the authentication API: one auth router in one app, with everything that its routes and guards share.
 *
 * @module
 */

import type { Host } from '../../records/engine/host.ts'
import type { RecordEngine } from '../../records/engine/record-engine.ts'
import type { SerialQueue } from '../../records/engine/serial-queue.ts'
import type { ModelFiles } from '../../uploads/model-files.ts'
import type { AccessTokens } from '../keys/access-tokens.ts'
import type { Hashing } from '../keys/bounded-hashing.ts'
import type { Keys } from '../keys/hmac.ts'
import type { LegacyTokens } from '../keys/legacy-tokens.ts'
import type { Passwords } from '../keys/passwords.ts'
import type { UsedTokens } from '../providers/used-tokens.ts'
import type { StoredNames } from '../setup/field-names.ts'
import type { AuthSettings } from '../setup/settings.ts'
import type { Afterwards } from './afterwards.ts'
import type { Breakers } from './circuit-breaker.ts'
import type { Decoys } from './decoys.ts'
import type { MailCheck } from './mail-check.ts'

/** What routes and guards share. */
export interface AuthInstance {
  readonly host: Host
  /** The path on which the router is mounted first. */
  readonly mount: string
  readonly settings: AuthSettings
  readonly names: StoredNames
  /** The engine of the user model; its `stored` does the conditional steps that the rules rely on. */
  readonly engine: RecordEngine
  /** The file fields of the user model, including those of other routers that take uploads for it. */
  readonly files: ModelFiles
  readonly tokens: AccessTokens
  /** Reads tokens of express-controller-sets, if they are accepted. */
  readonly legacy: LegacyTokens | undefined
  readonly passwords: Passwords
  readonly hashing: Hashing
  readonly breakers: Breakers
  readonly mailCheck: MailCheck
  readonly afterwards: Afterwards
  readonly decoys: Decoys
  /** If a provider's tokens, or tickets of second steps, may sign in only once: the used ones. */
  readonly usedTokens: UsedTokens | undefined
  /** On a store that writes one record at a time, those who end an admin wait here. */
  readonly endingAdmins: SerialQueue
  readonly clientKeys: Keys
  readonly codeKeys: Keys
  readonly refreshKeys: Keys
  readonly sessionKeys: Keys
  readonly ticketKeys: Keys
  /** Epoch milliseconds. */
  readonly now: () => number
}
