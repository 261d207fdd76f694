/**
 * Facebook: an access token, which must have been issued for this app.
 *
 * @module
 */

import { macUnder } from '#hmac'
import { hexOf } from '../../ports/hex.ts'
import { providerRefused } from '../refusals.ts'
import { createAsk } from './ask.ts'
import {
  endpointsOf,
  type FacebookOptions,
  type Provider,
  requireSetting,
  verified,
} from './provider.ts'

/** Facebook: `accessToken`. Graph marks no address as verified, so none links accounts. */
export function facebookProvider(
  name: string,
  idField: string,
  settings: FacebookOptions,
): Provider {
  const appId = requireSetting(name, 'appId', settings.appId)
  const appSecret = requireSetting(name, 'appSecret', settings.appSecret)
  const urls = endpointsOf(name, settings, {
    debugToken: 'https://graph.facebook.com/debug_token',
    me: 'https://graph.facebook.com/me',
  })
  return {
    name,
    idField,
    credentials: ['accessToken'],
    async profile(body) {
      const ask = createAsk()
      const token = String(body.accessToken)
      const checked = await ask(
        withParameters(urls.debugToken, {
          input_token: token,
          access_token: `${appId}|${appSecret}`,
        }),
      )
      const data = (checked.body.data ?? {}) as Readonly<Record<string, unknown>>
      const ours = data.is_valid === true && String(data.app_id) === appId
      if (checked.status !== 200 || !ours) throw providerRefused()
      const proof = hexOf(macUnder(new TextEncoder().encode(appSecret))(token))
      const person = await ask(
        withParameters(urls.me, {
          fields: 'id,name,email',
          access_token: token,
          appsecret_proof: proof,
        }),
      )
      const { id, email, name: fullName } = person.body
      const sameUser = typeof id === 'string' && id === String(data.user_id ?? id)
      if (person.status !== 200 || !sameUser) throw providerRefused()
      return verified(id, { email, name: fullName }, false)
    },
  }
}

function withParameters(url: string, parameters: Readonly<Record<string, string>>): string {
  const to = new URL(url)
  for (const [name, value] of Object.entries(parameters)) to.searchParams.set(name, value)
  return to.href
}
