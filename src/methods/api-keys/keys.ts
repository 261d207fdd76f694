/** API keys as they are stored: a MAC of the key, what it may do, and the era of its owner, after which it is dead. */

import { array, date, maxLength, number, object, optional, string } from 'zod/mini'
import type { Accounts } from '../../auth/setup/method.ts'
import { base64url } from '../../http/base64url.ts'
import { type HttpError, refusal } from '../../http/errors/errors.ts'
import { withTimeout } from '../../ports/promises/with-timeout.ts'
import { all, any, is, withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { MethodRecords } from '../method-model.ts'
import type { Rule } from './allow.ts'

export interface StoredKey {
  readonly _id: string
  readonly owner: string
  readonly slot: number
  readonly name: string
  readonly hash: string
  readonly era: string
  readonly allow: readonly Rule[]
  readonly createdAt: Date
  readonly expiresAt?: Date | null
  readonly lastUsedAt?: Date | null
}

export type AskedKey = Pick<StoredKey, 'name' | 'allow'> & { readonly expiresAt: Date | undefined }

export const tooManyKeys = (): HttpError =>
  refusal('too-many-keys', 409, 'You have too many keys. End one first.')

const SECRET_BYTES = 32
const USE_MS = 60_000
/** How long a request waits until the use of its key is noted, in milliseconds. */
const NOTE_MS = 500
/** Parallel requests take each other's slots. */
const MAX_ROUNDS = 20

export class Keys {
  readonly #accounts: Accounts
  readonly records: MethodRecords<StoredKey>
  readonly #pattern: RegExp
  readonly #prefix: string
  readonly #max: number
  /** The keys whose use is being noted, and since when. */
  readonly #noting = new Map<string, number>()

  constructor(accounts: Accounts, prefix: string, max: number) {
    this.#accounts = accounts
    this.#prefix = prefix
    this.#max = max
    this.#pattern = new RegExp(`^${prefix}_([0-9a-f]{24})_([\\w-]{43})$`)
    // All have a slot: unless it is asked for too, MongoDB reads the keys of everybody instead of the index.
    const own = (owner: string) => all([is('owner', owner), { op: 'gte', field: 'slot', value: 0 }])
    const definition = {
      fields: {
        owner: string().check(maxLength(1000)),
        slot: number(),
        name: string(),
        hash: string(),
        era: string(),
        allow: array(object({ mount: string(), actions: array(string()) })),
        expiresAt: optional(date()),
        lastUsedAt: optional(date()),
      },
      timestamps: { updatedAt: false },
      // So many slots, so many keys, no matter how many requests ask at once.
      unique: [['owner', 'slot']],
    }
    this.records = new MethodRecords(accounts, 'ApiKey', definition, own)
  }

  isKey(token: string): boolean {
    return token.startsWith(`${this.#prefix}_`)
  }

  /** The live keys of `user`, the newest first. */
  async of(user: Fields): Promise<readonly StoredKey[]> {
    return (await this.records.of(String(user._id))).filter((key) => this.#isLive(key, user))
  }

  /** Makes a key for `user`. Throws a 409 if they have too many. */
  async create(
    user: Fields,
    { expiresAt, ...asked }: AskedKey,
  ): Promise<{ readonly record: StoredKey; readonly key: string }> {
    const { now, newId, seal, activeEra } = this.#accounts
    const owner = String(user._id)
    const _id = newId()
    const secret = base64url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
    const common = { _id, owner, ...asked, createdAt: new Date(now()), era: activeEra(user) }
    const hash = seal(textOf(_id, owner, secret))
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const slot = await this.#freeSlot(user)
      if (slot === undefined) throw tooManyKeys()
      const record: StoredKey = { ...common, hash, slot, ...(expiresAt && { expiresAt }) }
      const isStored = await this.records.add({ ...record })
      if (isStored) return { record, key: `${this.#prefix}_${_id}_${secret}` }
    }
    throw tooManyKeys()
  }

  /** A slot that no live key of `user` has; dead ones make room. */
  async #freeSlot(user: Fields): Promise<number | undefined> {
    const owner = String(user._id)
    const taken = new Set<number>()
    for (const key of await this.records.of(owner)) {
      if (this.#isLive(key, user)) taken.add(key.slot)
      else await this.end(owner, key._id)
    }
    const free = Array.from({ length: this.#max }, (_, slot) => slot).filter((at) => !taken.has(at))
    // Any of them, so that parallel requests seldom choose the same.
    return free[Math.floor(Math.random() * free.length)]
  }

  /** Ends one key of the user with the id `owner`; false if they have none with that id. */
  async end(owner: string, id: string): Promise<boolean> {
    if (!/^[0-9a-f]{24}$/.test(id)) return false
    const own = all([withId(id), is('owner', owner)])
    return (await this.records.stored.delete(own)) !== null
  }

  /** A right key with its owner, who may be disabled; undefined for any other. */
  async read(
    token: string,
  ): Promise<{ readonly user: Fields; readonly record: StoredKey } | undefined> {
    const [, id = '', secret = ''] = this.#pattern.exec(token) ?? []
    if (id === '') return undefined
    const record = await this.records.first(withId(id))
    // Compared anyway: it takes time.
    const isRight = this.#accounts.isSealed(record?.hash, textOf(id, record?.owner ?? '', secret))
    if (!record || !isRight) return undefined
    const user = await this.#accounts.byId(record.owner)
    const isUsable = user && (this.#accounts.isDisabled(user) || this.#isLive(record, user))
    return isUsable ? { user, record } : undefined
  }

  /**
   * Notes that a key was used, at most once a minute. A read goes on where nothing can be written now: it waits for no
   * lock, and what fails is noted with a later use.
   */
  async noteUse({ _id, lastUsedAt }: StoredKey): Promise<void> {
    const at = this.#accounts.now()
    const known = Math.max(lastUsedAt?.getTime() ?? 0, this.#noting.get(_id) ?? 0)
    if (known > at - USE_MS) return
    const before = any([
      is('lastUsedAt', null),
      { op: 'lte', field: 'lastUsedAt', value: new Date(at - USE_MS) },
    ])
    this.#noting.set(_id, at)
    const noted = this.records.stored
      .update(all([withId(_id), before]), { set: { lastUsedAt: new Date(at) } })
      .finally(() => this.#noting.delete(_id))
    await withTimeout(NOTE_MS, () => noted, Error).catch(() => {})
  }

  #isLive({ era, expiresAt }: StoredKey, user: Fields): boolean {
    const isOver = expiresAt != null && expiresAt.getTime() <= this.#accounts.now()
    return !isOver && era === this.#accounts.activeEra(user)
  }
}

function textOf(id: string, owner: string, secret: string): string {
  return JSON.stringify([id, owner, secret])
}
