/**
 * `fieldgate/api-keys`: keys for programs, each of which may do a part of what its owner may.
 *
 * @module
 */

import { array, date, minLength, nullable, object, optional, string } from 'zod/mini'
import { defineMethod, methodRoute } from '../../auth/machinery.ts'
import { invalidToken, noAccess, recentSignInRequired } from '../../auth/refusals.ts'
import type { Accounts, Method, MethodRoute, OpenMethod } from '../../auth/setup/method.ts'
import { entryNotFound, invalidFields } from '../../http/errors/refusals.ts'
import { messageResponse, valueResponse } from '../../http/response/respond.ts'
import {
  checkOptions,
  matching,
  type Rule as OptionRule,
  wholeNumber,
} from '../../model/option-rules.ts'
import { dateFrom } from '../../model/values/cast.ts'
import { requestedId } from '../../records/read/read.ts'
import { MOST_RECORDS, nameIn } from '../method-model.ts'
import { allowIn, Judge } from './allow.ts'
import { Keys, type StoredKey, tooManyKeys } from './keys.ts'

/** Options of `apiKeys`. */
export interface ApiKeysOptions {
  /** The most keys of one user; more are a 409. Default 20, at most 1000. */
  readonly maxPerUser?: number
  /** What keys begin with: 1 to 16 letters and digits. Default `'fg'`. */
  readonly prefix?: string
}

const RULES: Readonly<Record<string, OptionRule>> = {
  maxPerUser: wholeNumber(`be a whole number, 1 to ${MOST_RECORDS}`, 1, MOST_RECORDS),
  prefix: matching('be 1 to 16 letters and digits', /^[a-z0-9]{1,16}$/i),
}

const rule = object({ mount: string(), actions: array(string()).check(minLength(1)) })
const shown = object({
  id: string(),
  name: string(),
  createdAt: date(),
  expiresAt: nullable(date()),
  lastUsedAt: nullable(date()),
  allow: array(rule),
})

const ROUTES: readonly MethodRoute[] = [
  methodRoute('listKeys', 'GET /keys', 'signed in', {
    summary: "Lists the user's API keys, the newest first",
    response: array(shown),
  }),
  methodRoute('createKey', 'POST /keys', 'signed in', {
    summary: 'Makes an API key, which is shown only here',
    body: object({
      name: string(),
      expiresAt: optional(date()),
      allow: array(rule).check(minLength(1)),
    }),
    response: object({ ...shown.shape, key: string() }),
    status: 201,
    refusals: [invalidFields({}), recentSignInRequired(), tooManyKeys()],
  }),
  methodRoute('deleteKey', 'DELETE /keys/:id', 'signed in', {
    summary: 'Ends an API key of the user',
    refusals: [recentSignInRequired(), entryNotFound()],
  }),
  methodRoute('deleteUserKeys', 'DELETE /users/:id/keys', 'admin', {
    summary: 'Ends all API keys of a user',
  }),
]

/**
 * API keys: `POST /keys` makes one for the signed-in user, and `Authorization: Bearer fg_…` acts as that user wherever
 * `requireAuth` guards, less what the key's `allow` leaves out. A key never opens the auth router's own routes, and ends
 * with its owner. Throws a `TypeError` if an option makes no sense.
 *
 * ```ts
 * const auth = createAuthRouter({ model: User, token: { secret }, methods: [apiKeys()] })
 * ```
 */
export function apiKeys(options: ApiKeysOptions = {}): Method<'apiKeys'> {
  checkOptions(options, RULES, 'apiKeys')
  const { maxPerUser = 20, prefix = 'fg' } = options
  return defineMethod({
    name: 'apiKeys',
    routes: ROUTES,
    bearerRefusals: [noAccess()],
    open: (accounts) => opened(accounts, new Keys(accounts, prefix, maxPerUser)),
  })
}

function opened(accounts: Accounts, keys: Keys): OpenMethod {
  const judge = new Judge(accounts.host)
  return {
    handlers: {
      async listKeys(request) {
        const user = await accounts.byId(request.auth?.userId)
        if (!user) throw invalidToken()
        return valueResponse((await keys.of(user)).map(shownKey))
      },
      async createKey(request) {
        const user = await accounts.recent(request)
        const given = await accounts.body(request)
        const name = nameIn(given.name)
        const expiresAt = expiryIn(given.expiresAt, accounts.now())
        const allow = allowIn(given.allow, judge)
        const { record, key } = await keys.create(user, { name, expiresAt, allow })
        accounts.report(request, 'key-added', user._id)
        return valueResponse({ ...shownKey(record), key }, { status: 201 })
      },
      async deleteKey(request) {
        const user = await accounts.strong(request)
        if (!(await keys.end(String(user._id), request.params.id ?? ''))) throw entryNotFound()
        accounts.report(request, 'key-removed', user._id)
        return messageResponse('Key ended.')
      },
      async deleteUserKeys(request) {
        const id = requestedId(accounts, request)
        if (!(await accounts.byId(id))) throw entryNotFound()
        await keys.records.forget(id)
        accounts.report(request, 'key-removed', id)
        return messageResponse('All keys ended.')
      },
    },
    bearer: {
      takes: (token) => keys.isKey(token),
      has: async (user) => (await keys.of(user)).length > 0,
      async read(token, request) {
        if (judge.isOfAccounts(request)) return undefined
        const found = await keys.read(token)
        if (!found) return undefined
        const { user, record } = found
        // When the account is enabled again, no key from before opens it.
        if (accounts.isDisabled(user)) await keys.end(record.owner, record._id)
        else {
          judge.check(record.allow, request)
          await keys.noteUse(record)
        }
        return { user, claims: { key: record._id } }
      },
    },
    forget: (userId) => keys.records.forget(userId),
  }
}

function expiryIn(value: unknown, now: number): Date | undefined {
  if (value === undefined || value === null) return undefined
  const at = typeof value === 'string' ? dateFrom(value) : undefined
  if (!at || at.getTime() <= now)
    throw invalidFields({ expiresAt: 'Must be a date in the future.' })
  return at
}

function shownKey({ _id, name, createdAt, expiresAt, lastUsedAt, allow }: StoredKey) {
  const [ends, used] = [expiresAt ?? null, lastUsedAt ?? null]
  return { id: _id, name, createdAt, expiresAt: ends, lastUsedAt: used, allow }
}
