import { hexDigestOf } from '#hmac'
import { sameText } from '../http/base64url.ts'
import type { ApiRequest, AuthContext } from '../http/request/request.ts'
import * as rule from '../model/option-rules.ts'
import { checkOptions, type Fail, failAs, isNames, type Rule } from '../model/option-rules.ts'
import { describeGuard } from '../records/engine/guards.ts'
import type { Guard } from '../records/engine/route.ts'
import { apiKeyRequired, invalidApiKey } from './refusals.ts'

/** Returns who a key belongs to, as the value of `request.auth` or its `userId`; undefined for an unknown key. */
export type KeyCheck = (
  key: string,
  request: ApiRequest,
) => string | AuthContext | undefined | null | Promise<string | AuthContext | undefined | null>

/** Options of `apiKey`. */
export interface ApiKeyOptions {
  /** The keys that are accepted, or a function that knows them. */
  readonly keys: readonly string[] | KeyCheck
  /** The request header with the key. Default `X-API-Key`. */
  readonly header?: string
}

const RULES: Readonly<Record<keyof ApiKeyOptions, Rule>> = {
  keys: {
    must: 'be a list of keys or a function',
    test: (value) => (isNames(value) && value.length > 0) || rule.callable.test(value),
  },
  header: rule.matching('be the name of a header', /^[\w!#$%&'*+.^`|~-]+$/),
}

/**
 * Refuses requests without a valid key with a 401. Sets `request.auth`, as `requireAuth` does: `userId` is what `keys`
 * returns for the key; with a list, a string made from the key that does not reveal it. Throws a `TypeError` naming the
 * option if an option makes no sense.
 *
 * ```ts
 * app.use(apiKey({ keys: [process.env.API_KEY ?? ''] }))
 * ```
 */
export function apiKey(options: ApiKeyOptions): Guard {
  const fail: Fail = failAs('apiKey')
  checkOptions(options ?? {}, RULES, fail)
  const { keys, header = 'X-API-Key' } = options ?? {}
  if (keys === undefined) fail(`'keys' is required`)
  // The value is not repeated: it is a secret. A client's header never has spaces around it, nor other characters.
  if (typeof keys !== 'function' && !keys.every((key) => /^[\x21-\x7e]+$/.test(key))) {
    fail(`'keys' has a key that is empty, or has spaces or characters that aren't ASCII`)
  }
  const principalOf = typeof keys === 'function' ? keys : among(keys)
  let isTold = false
  const guard: Guard = async (request, { logger }) => {
    const key = request.headers.get(header)
    if (key === null || key === '') throw apiKeyRequired(header)
    const principal = await principalOf(key, request)
    const auth = typeof principal === 'string' ? { userId: principal } : principal
    if (auth && !auth.userId && !isTold) {
      isTold = true
      logger.warn(`apiKey: 'keys' has returned a principal without 'userId', which is refused`)
    }
    if (!auth?.userId) throw invalidApiKey(header)
    request.auth = auth
  }
  const refusals = [apiKeyRequired(header), invalidApiKey(header)]
  return describeGuard(guard, 'holders of an API key', { apiKey: header, refusals })
}

/** Compares with every key, so that the time does not tell which one it was. */
function among(keys: readonly string[]): (given: string) => string | undefined {
  const known = keys.map((key) => [key, `key-${hexDigestOf(key).slice(0, 16)}`] as const)
  return (given) => {
    let found: string | undefined
    for (const [key, principal] of known) if (sameText(given, key)) found = principal
    return found
  }
}
