/**
 * A second step of a sign-in: `onLogin` asks for it, the client gets a ticket for it, and sends the ticket with its
 * answer.
 *
 * A ticket is bound to the account, its password, the client, and the provider if one vouched for the first step. It
 * opens one session, and expires. Each answer is counted as a guess before it is evaluated, like a guess at the
 * password, so more tickets do not allow more guesses (ASVS 6.6.3).
 *
 * @module
 */

import { base64url, textIn } from '../../http/base64url.ts'
import type { ApiRequest } from '../../http/request.ts'
import { failureResponse } from '../../http/respond.ts'
import { idFrom } from '../../model/cast.ts'
import { isFields } from '../../model/writable.ts'
import type { Fields } from '../../ports/store.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { changedAt, userById } from '../instance/user.ts'
import { isSealed, seal } from '../keys/hmac.ts'
import type { Provider } from '../providers/provider.ts'
import type { SecondStepRequired } from '../setup/sign-in-step.ts'
import { visitOf } from '../visit/visit.ts'

/** A valid ticket. */
export interface Ticket {
  readonly text: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
  readonly user: Fields
  /** The provider that vouched for the first step; undefined if it was a password. */
  readonly provider: Provider | undefined
  /** Whether it is valid for the account as it is in `user`: it may have changed since. */
  isGoodFor(user: Fields): boolean
}

const LIFETIME_MS = 5 * 60_000
const MAX_LENGTH = 1024
const NONCE_BYTES = 16

/** Asks the client for the second step of a sign-in of `user`. */
export function secondStepResponse(
  auth: AuthInstance,
  user: Fields,
  asked: SecondStepRequired,
  request: ApiRequest,
  provider?: Provider,
): Response {
  const expiresAt = auth.now() + LIFETIME_MS
  const nonce = base64url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))
  const says: Says = { id: String(user._id), expiresAt, nonce, provider: provider?.name ?? '' }
  const payload = base64url(new TextEncoder().encode(JSON.stringify(says)))
  const ticket = `${payload}~${seal(auth.ticketKeys.current, boundText(auth, payload, user, request, provider))}`
  const failure = { error: asked.message, ticket, expiresIn: LIFETIME_MS / 1000 }
  const { requestId } = request
  return failureResponse(asked.status, { ...failure, requestId }, asked.headers)
}

/** The readable part of a ticket. */
interface Says {
  readonly id: string
  readonly expiresAt: number
  readonly nonce: string
  /** The provider's name; empty for a password. */
  readonly provider: string
}

/** The ticket in `text`, with its account as it is now; undefined if it is not valid, or not any more. */
export async function ticketIn(
  auth: AuthInstance,
  text: string | null,
  request: ApiRequest,
): Promise<Ticket | undefined> {
  const [payload = '', sealed, ...rest] = (text ?? '').split('~')
  if (!text || text.length > MAX_LENGTH || rest.length > 0) return undefined
  const says = saidIn(payload)
  if (!says || says.expiresAt <= auth.now()) return undefined
  const provider = auth.settings.providers.get(says.provider)
  if (!provider && says.provider !== '') return undefined
  const id = idFrom(says.id, auth.settings.model.idType)
  const user = id === undefined ? undefined : await userById(auth, id)
  if (!user) return undefined
  const isGoodFor = (account: Fields) =>
    isSealed(auth.ticketKeys, sealed, boundText(auth, payload, account, request, provider))
  return isGoodFor(user)
    ? { text, expiresAt: says.expiresAt, user, provider, isGoodFor }
    : undefined
}

function saidIn(payload: string): Says | undefined {
  try {
    const says: unknown = JSON.parse(textIn(payload) ?? '')
    const isTyped =
      isFields(says) &&
      typeof says.id === 'string' &&
      typeof says.expiresAt === 'number' &&
      typeof says.provider === 'string'
    return isTyped ? (says as unknown as Says) : undefined
  } catch {
    return undefined
  }
}

/** What a ticket is sealed with: when any of it changes, the ticket is invalid. */
function boundText(
  auth: AuthInstance,
  payload: string,
  user: Fields,
  request: ApiRequest,
  provider: Provider | undefined,
): string {
  const { client } = visitOf(request)
  const link = provider ? user[provider.idField] : user[auth.names.password]
  return JSON.stringify([payload, changedAt(auth, user), link ?? null, client ?? null])
}
