/**
 * Requests for a code, from anyone who knows an address. The response is sent before the account is looked up, so
 * neither its content nor its time depends on whether there is one.
 */

import { messageResponse } from '../../http/response/respond.ts'
import { idsOf } from '../../ports/services/logger.ts'
import { everything } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { messageText } from '../../ports/values/causes.ts'
import { workingFirst } from '../instance/circuit-breaker.ts'
import type { IssuedCode } from '../instance/codes.ts'
import type { Auth, AuthRequest } from '../instance/instance.ts'
import { report } from '../request-info.ts'
import type { Channel, MessagePurpose } from '../setup/delivery-options.ts'
import type { CodeKind } from '../setup/field-names.ts'
import { sendMessage } from './messages.ts'

/** Issuing a code, and making it valid. */
const WRITES_PER_CODE = 2

/**
 * Responds, then runs `send` with `channels`, those first that are not known to be down. It returns whether there was an
 * address to send a code to. Throws a 503 while it is known that codes cannot be sent, and any error of the store.
 */
export async function respondFirst(
  auth: AuthRequest,
  channels: readonly Channel[],
  send: (channels: readonly Channel[]) => Promise<boolean>,
): Promise<Response> {
  const { users, breakers, dummyWrite, logger } = auth
  const working = workingFirst(breakers, channels)
  // An unreachable store is reported, but the query is the same for every account.
  await users.engine.stored.find({ filter: everything, sort: [], limit: 1 })
  const work = auth.afterResponse(async () => {
    // Do the writes that a code would cost: later requests would have to wait for those too.
    if (!(await send(working)))
      for (let left = WRITES_PER_CODE; left > 0; left -= 1) await dummyWrite()
    await auth.mailCheck(channels)
  })
  if (work) auth.context.waitUntil(work)
  else logger.error('too many codes are being sent: one was dropped', idsOf(auth.request))
  return messageResponse('If that account exists, a code has been sent.')
}

/** Sends a code; returns whether the account has an address for it. Failures are logged, and take the code back. */
export async function sendNewCode(
  auth: AuthRequest,
  account: Fields,
  kind: CodeKind,
): Promise<boolean> {
  const { codes, identifiers, logger } = auth
  const issued = await codes.issue(account, kind)
  if (!issued) {
    const ids = { ...idsOf(auth.request), userId: String(account._id) }
    logger.info('a code was requested too soon after the last one', ids)
    return false
  }
  // The address that the code was made for: it may have changed since the account was found.
  const { user } = issued
  const to =
    kind === 'verification' ? identifiers.addressToVerify(user) : addressOf(auth, user, [kind])?.to
  // Valid before it is handed over: a sender may report late what the user already types.
  const { isValid, takeBack } = await codes.activate(issued)
  const isDone = to !== undefined && isValid && (await isSent(auth, issued, to))
  if (!isDone) await takeBack()
  return to !== undefined
}

/**
 * The first of `channels` that reaches the user, and the stored address: never one that a client typed, nor one that is
 * only claimed on an account with a proven identifier.
 */
export function addressOf(
  { settings, identifiers }: Auth,
  user: Fields,
  channels: readonly Channel[],
): { readonly channel: Channel; readonly to: string } | undefined {
  for (const channel of channels) {
    const field = settings.delivery.toField[channel]
    const to = user[field]
    const isMeant = typeof to === 'string' && to !== '' && identifiers.mayIdentify(user, field)
    if (isMeant) return { channel, to }
  }
  return undefined
}

/** A code on its way: one of the account's own kinds, or of a method. */
interface SentCode extends Pick<IssuedCode, 'user' | 'code' | 'expiresAt'> {
  readonly kind: CodeKind | 'signInCode'
}

const PURPOSE_OF: Readonly<Record<SentCode['kind'], MessagePurpose>> = {
  email: 'passwordReset',
  sms: 'passwordReset',
  verification: 'emailVerification',
  signInCode: 'signInCode',
}

/** Sends an issued code, and reports and tells the breaker that; returns whether it was sent. A failure is logged. */
export async function isSent(
  auth: AuthRequest,
  { kind, user, code, expiresAt }: SentCode,
  to: string,
): Promise<boolean> {
  const channel = kind === 'sms' ? 'sms' : 'email'
  const purpose = PURPOSE_OF[kind]
  const breaker = auth.breakers[channel]
  try {
    await sendMessage(auth, user, { to, code, channel, expiresAt, purpose })
    breaker.succeeded()
    report(auth, 'code-sent', user._id)
    return true
  } catch (error) {
    const what =
      kind === 'verification'
        ? 'a confirmation code could not be sent'
        : `a code could not be sent by ${channel}`
    // A sender's error may quote the message that it was given.
    const told = messageText(error).replaceAll(code, '…')
    auth.logger.error(what, { ...idsOf(auth.request), error: told })
    breaker.failed({ recipient: to, client: auth.client, error })
    return false
  }
}
