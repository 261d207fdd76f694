/**
 * Notices: the owner of an account is told by mail what happened to it (ASVS 6.3.7), at the address that is proven after
 * it. A notice is sent after the response, so it changes neither its time nor its status; if it fails, that is logged
 * and nothing else.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { idsOf } from '../../http/request-ids.ts'
import type { Fields } from '../../ports/store.ts'
import { isProven } from '../accounts/ways-in.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { isDisabled } from '../instance/user.ts'
import { channelsThere, isThere } from '../setup/channels.ts'
import type {
  Channel,
  MessagePurpose,
  NoticeKind,
  SMS_PURPOSES,
} from '../setup/delivery-options.ts'
import { report } from '../visit/security-events.ts'
import { visitOf } from '../visit/visit.ts'
import { sendMessage } from './send-message.ts'

type NoticePurpose = Exclude<MessagePurpose, (typeof SMS_PURPOSES)[number]>

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
  auth: AuthInstance,
  user: Fields,
  purpose: NoticePurpose,
  request: ApiRequest,
  provider?: string,
): void {
  const { settings, names } = auth
  const to = user[names.email]
  // If your mails go to another address than the identifier, that one is not meant for them.
  const isMailed = isThere(settings, 'email') && settings.delivery.toField.email === names.email
  if (!settings.notices.has(KINDS[purpose]) || !isMailed) return
  if (typeof to !== 'string' || isDisabled(auth, user) || !isProven(auth, user, names.email)) return
  send(auth, user, { to, channel: 'email', purpose, ...(provider && { provider }) }, request)
}

/** Reports the providers that `after` has and `before` has not, and the other way round, and tells the owner. */
export function tellOfProviders(
  auth: AuthInstance,
  before: Fields,
  after: Fields,
  request: ApiRequest,
): void {
  for (const { name, idField } of auth.settings.providers.values()) {
    const was = before[idField] ?? undefined
    const is = after[idField] ?? undefined
    if (was === is) continue
    if (was !== undefined) {
      report(auth, request, 'provider-unlinked', after._id, name)
      tell(auth, after, 'providerUnlinked', request, name)
    }
    if (is !== undefined) {
      report(auth, request, 'provider-linked', after._id, name)
      tell(auth, after, 'providerLinked', request, name)
    }
  }
}

/** Tells the old address of `field` that it was changed. `before` is the account before the change. */
export function tellOldAddress(
  auth: AuthInstance,
  before: Fields,
  field: string,
  request: ApiRequest,
): void {
  const { delivery, notices } = auth.settings
  const channel = channelsThere(auth.settings).find((each) => delivery.toField[each] === field)
  const to = before[field]
  if (!notices.has('address') || !channel || typeof to !== 'string' || to === '') return
  send(auth, before, { to, channel, purpose: 'identifierChanged' }, request)
}

interface Notice {
  readonly to: string
  readonly channel: Channel
  readonly purpose: MessagePurpose
  readonly provider?: string
}

function send(auth: AuthInstance, user: Fields, notice: Notice, request: ApiRequest): void {
  const { logger } = auth.host
  const work = auth.afterwards.begin(async () => {
    try {
      await sendMessage(auth, user, { ...notice, code: '', secondsLeft: 0 }, request)
    } catch (error) {
      logger.error(`a notice could not be sent by ${notice.channel}`, {
        ...idsOf(request),
        error: String((error as Error)?.message ?? error),
      })
    }
  })
  if (work) visitOf(request).later(work)
  else logger.error('too much is being sent: one notice was dropped', idsOf(request))
}
