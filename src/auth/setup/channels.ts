/** The channels that codes are sent by. */

import { noSuchChannel, unknownChannel } from '../refusals.ts'
import type { Channel } from './delivery-options.ts'
import type { AuthSettings } from './settings.ts'

/** The channels that codes can be sent by, e-mail first. */
export function channelsThere(settings: AuthSettings): readonly Channel[] {
  return (['email', 'sms'] as const).filter((channel) => isThere(settings, channel))
}

/** Whether codes can be sent by `channel`. */
export function isThere({ delivery, model }: AuthSettings, channel: Channel): boolean {
  const { deliver, mail, sms, toField } = delivery
  if (deliver) return model.shape.fields.has(toField[channel])
  return channel === 'email' ? mail !== undefined : sms !== undefined
}

/** The channels that the client may mean: the one it names, or all available ones, e-mail first. */
export function channelsFor(settings: AuthSettings, wanted: unknown): readonly Channel[] {
  const there = channelsThere(settings)
  if (wanted === undefined || wanted === null) {
    if (there.length === 0) throw noSuchChannel('email')
    return there
  }
  if (wanted !== 'email' && wanted !== 'sms') throw unknownChannel()
  if (!there.includes(wanted)) throw noSuchChannel(wanted)
  return [wanted]
}
