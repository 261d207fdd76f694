/**
 * Notices: the owner of an account is told by mail what happened to it (ASVS 6.3.7), at the address that is proven after
 * it. A notice is sent after the response, so it changes neither its time nor its status; if it fails, that is logged
 * and nothing else.
 */

import type { ApiRequest } from '../../http/request.ts'
import { idsOf } from '../../http/request-ids.ts'
import type { Fields } from '../../ports/store.ts'
import { requestInfo } from '../request-info/request-info.ts'
import { channelsThere, isThere } from '../setup/channels.ts'
import type { MessagePurpose, NoticeKind, SMS_PURPOSES } from '../setup/delivery-options.ts'
import { type Message, type MessageParts, sendMessage } from './send-message.ts'

type NoticePurpose = Exclude<MessagePurpose, (typeof SMS_PURPOSES)[number] | 'signInCode'>

const KINDS: Readonly<Record<NoticePurpose, NoticeKind>> = {
  passwordChanged: 'password',
  providerLinked: 'provider',
  providerUnlinked: 'provider',
  factorAdded: 'factor',
  factorRemoved: 'factor',
  newClient: 'newClient',
}

/** Tells the owner of `user`, as it is after what happened. A disabled account, or one without a proven address, is told nothing. */
export function tell(
  parts: MessageParts,
  user: Fields,
  purpose: NoticePurpose,
  request: ApiRequest,
  provider?: string,
): void {
  const { settings, users, identifiers } = parts
  const { email } = users.names
  const to = user[email]
  // If your mails go to another address than the identifier, that one is not meant for them.
  const isMailed = isThere(settings, 'email') && settings.delivery.toField.email === email
  if (!settings.notices.has(KINDS[purpose]) || !isMailed) return
  if (typeof to !== 'string' || users.isDisabled(user) || !identifiers.isProven(user, email)) return
  send(parts, user, { to, channel: 'email', purpose, ...(provider && { provider }) }, request)
}

/** Reports the providers that `after` has and `before` has not, and the other way round, and tells the owner. */
export function tellOfProviders(
  parts: MessageParts,
  before: Fields,
  after: Fields,
  request: ApiRequest,
): void {
  for (const { name, idField } of parts.settings.providers.values()) {
    const was = before[idField] ?? undefined
    const is = after[idField] ?? undefined
    if (was === is) continue
    if (was !== undefined) {
      parts.report(request, 'provider-unlinked', after._id, name)
      tell(parts, after, 'providerUnlinked', request, name)
    }
    if (is !== undefined) {
      parts.report(request, 'provider-linked', after._id, name)
      tell(parts, after, 'providerLinked', request, name)
    }
  }
}

/** Tells the old address of `field` that it was changed. `before` is the account before the change. */
export function tellOldAddress(
  parts: MessageParts,
  before: Fields,
  field: string,
  request: ApiRequest,
): void {
  const { delivery, notices } = parts.settings
  const channel = channelsThere(parts.settings).find((each) => delivery.toField[each] === field)
  const to = before[field]
  if (!notices.has('address') || !channel || typeof to !== 'string' || to === '') return
  send(parts, before, { to, channel, purpose: 'identifierChanged' }, request)
}

type Notice = Pick<Message, 'to' | 'channel' | 'purpose' | 'provider'>

function send(parts: MessageParts, user: Fields, notice: Notice, request: ApiRequest): void {
  const { logger } = parts
  const work = parts.afterResponse(async () => {
    try {
      await sendMessage(parts, user, { ...notice, code: '', secondsLeft: 0 }, request)
    } catch (error) {
      const told = String((error as Error)?.message ?? error)
      const ids = idsOf(request)
      logger.error(`a notice could not be sent by ${notice.channel}`, { ...ids, error: told })
    }
  })
  if (work) requestInfo(request).later(work)
  else logger.error('too much is being sent: one notice was dropped', idsOf(request))
}
