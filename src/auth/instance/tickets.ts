/**
 * A second step of a sign-in: the client gets a ticket for it, and sends the ticket with its answer.
 *
 * A ticket is bound to the account, its password, its second factors, the client, and the provider if one vouched for the
 * first step; it says whether a second factor was shown. It opens one session, and expires. Each answer is counted as a guess before it is evaluated, like a guess at the
 * password, so more tickets do not allow more guesses (ASVS 6.6.3).
 */

import { base64url, objectIn } from '../../http/base64url.ts'
import { codeOf } from '../../http/errors/errors.ts'
import { failureFor } from '../../http/response/problem.ts'
import type { Fields } from '../../ports/store/records.ts'
import { isSealed, seal } from '../keys/signing.ts'
import type { Provider } from '../providers/provider.ts'
import type { SecondFactor } from '../setup/method.ts'
import type { SecondStepRequired } from '../setup/options.ts'
import type { AuthRequest } from './instance.ts'

export interface Ticket {
  readonly text: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
  readonly user: Fields
  /** The provider that vouched for the first step; undefined if it was a password. */
  readonly provider: Provider | undefined
  /** Whether a second factor was shown for it. */
  readonly isStrong: boolean
  /** What must still be true of the account when its session opens. */
  readonly expect: Fields
  /** Whether it is valid for the account as it is in `user`: it may have changed since. */
  isGoodFor(user: Fields): boolean
}

/** What is asked for: by `onLogin`, or one of the account's factors. */
export interface AskedStep {
  readonly step: SecondStepRequired
  readonly factors?: readonly SecondFactor[]
  /** The provider that vouched for the first step. */
  readonly provider?: Provider | undefined
  /** Whether a second factor was shown before. */
  readonly isStrong?: boolean
  /** What must still be true of the account when its session opens. */
  readonly expect?: Fields
}

/** The readable part of a ticket. */
interface Payload {
  readonly id: string
  readonly expiresAt: number
  readonly nonce: string
  /** The provider's name; empty for a password. */
  readonly provider: string
  readonly isStrong: boolean
  /** The fields on whose values the first step relies. */
  readonly fields: readonly string[]
}

const LIFETIME_MS = 5 * 60_000
const MAX_TICKET_LENGTH = 1024
const NONCE_BYTES = 16

export async function askSecondStep(
  auth: AuthRequest,
  user: Fields,
  { step, factors = [], provider, isStrong = false, expect = {} }: AskedStep,
): Promise<Response> {
  const { users, ticketKeys, request } = auth
  const payload: Payload = {
    id: String(user._id),
    expiresAt: users.now() + LIFETIME_MS,
    nonce: base64url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES))),
    provider: provider?.name ?? '',
    isStrong,
    fields: Object.keys(expect),
  }
  const readable = base64url(JSON.stringify(payload))
  const said = [readable, await auth.factors?.stampOf(user)]
  const bound = boundText(auth, said, { ...user, ...expect }, payload)
  const ticket = `${readable}~${seal(ticketKeys.current, bound)}`
  const { requestId } = request
  const secondStep = factors.length > 0 && { secondStep: factors.map(({ name }) => name) }
  const refused = { error: step.message, code: codeOf(step) }
  const told = { ticket, expiresIn: LIFETIME_MS / 1000, ...secondStep, requestId }
  return failureFor(request, step.status, { ...refused, ...told }, step.headers)
}

/** The ticket in `text`, with its account as it is now; undefined if it is not valid, or not any more. */
export async function readTicket(
  auth: AuthRequest,
  text: string | null,
): Promise<Ticket | undefined> {
  const { users, settings, ticketKeys } = auth
  const [readable = '', sealed, ...rest] = (text ?? '').split('~')
  if (!text || text.length > MAX_TICKET_LENGTH || rest.length > 0) return undefined
  const payload = payloadIn(readable)
  if (!payload || payload.expiresAt <= users.now()) return undefined
  const { expiresAt, isStrong, fields } = payload
  const provider = settings.providers.get(payload.provider)
  if (!provider && payload.provider !== '') return undefined
  const user = await users.byToken(payload.id)
  if (!user) return undefined
  const said = [readable, await auth.factors?.stampOf(user)]
  const isGoodFor = (account: Fields) =>
    isSealed(ticketKeys, sealed, boundText(auth, said, account, payload))
  const expect = Object.fromEntries(fields.map((field) => [field, user[field]]))
  const ticket = { text, expiresAt, user, provider, isStrong, expect, isGoodFor }
  return isGoodFor(user) ? ticket : undefined
}

/** What a ticket is sealed with: when any of it changes, the ticket is invalid. */
function boundText(
  { users, settings, client }: AuthRequest,
  said: readonly unknown[],
  user: Fields,
  { fields, provider }: Payload,
): string {
  const link = user[settings.providers.get(provider)?.idField ?? users.names.password]
  const state = [users.changedAt(user), Number(user[users.names.takeovers] ?? 0)]
  const relied = fields.map((field) => user[field] ?? null)
  return JSON.stringify([...said, ...state, link ?? null, client ?? null, relied])
}

function payloadIn(readable: string): Payload | undefined {
  const payload = objectIn(readable)
  const isTyped =
    typeof payload?.id === 'string' &&
    typeof payload.expiresAt === 'number' &&
    typeof payload.provider === 'string' &&
    typeof payload.isStrong === 'boolean' &&
    Array.isArray(payload.fields)
  return isTyped ? (payload as unknown as Payload) : undefined
}
