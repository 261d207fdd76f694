/** Facebook and GitHub: access tokens, which must have been issued for this app. */

import { textMacUnder } from '#hmac'
import type { Fields } from '../../ports/store/records.ts'
import * as refuse from '../refusals.ts'
import { type Ask, createAsk, withParameters } from './ask.ts'
import {
  type Checks,
  endpointsOf,
  type FacebookOptions,
  type GithubOptions,
  requireSetting,
  verified,
} from './provider.ts'

/** Facebook: `accessToken`. Graph marks no address as verified, so none links accounts. */
export function facebookProvider(name: string, settings: FacebookOptions): Checks {
  const appId = requireSetting(name, 'appId', settings.appId)
  const appSecret = requireSetting(name, 'appSecret', settings.appSecret)
  const urls = endpointsOf(name, settings, {
    debugToken: 'https://graph.facebook.com/debug_token',
    me: 'https://graph.facebook.com/me',
  })
  return {
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
      if (checked.status !== 200 || !ours) throw refuse.providerRefused()
      const proof = textMacUnder(new TextEncoder().encode(appSecret), 'hex')(token)
      const person = await ask(
        withParameters(urls.me, {
          fields: 'id,name,email',
          access_token: token,
          appsecret_proof: proof,
        }),
      )
      const { id } = person.body
      const sameUser = typeof id === 'string' && id === String(data.user_id ?? id)
      if (person.status !== 200 || !sameUser) throw refuse.providerRefused()
      return verified(id, person.body, false)
    },
  }
}

const JSON_HEADERS = {
  Accept: 'application/json',
  'Content-Type': 'application/json',
  // GitHub refuses requests without one.
  'User-Agent': 'fieldgate',
}

/** GitHub: `accessToken`, or `code`, with `codeVerifier` if the client has sent a challenge. */
export function githubProvider(name: string, settings: GithubOptions): Checks {
  const clientId = requireSetting(name, 'clientId', settings.clientId)
  const clientSecret = requireSetting(name, 'clientSecret', settings.clientSecret)
  const urls = endpointsOf(name, settings, {
    token: 'https://github.com/login/oauth/access_token',
    check: `https://api.github.com/applications/${encodeURIComponent(clientId)}/token`,
    user: 'https://api.github.com/user',
    emails: 'https://api.github.com/user/emails',
  })

  async function exchangeCode(
    ask: Ask,
    code: string,
    verifier: string | undefined,
  ): Promise<string> {
    const { status, body } = await ask(urls.token, {
      method: 'POST',
      headers: JSON_HEADERS,
      body: JSON.stringify({
        client_id: clientId,
        client_secret: clientSecret,
        code,
        ...(verifier !== undefined && { code_verifier: verifier }),
        ...(settings.redirectUri !== undefined && { redirect_uri: settings.redirectUri }),
      }),
    })
    const { access_token: token } = body
    if (status !== 200 || typeof token !== 'string' || token === '') throw refuse.providerRefused()
    return token
  }

  /** A token that another app got signs in there, not here. */
  async function checkToken(ask: Ask, token: string): Promise<string> {
    const { status } = await ask(urls.check, {
      method: 'POST',
      headers: { ...JSON_HEADERS, Authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
      body: JSON.stringify({ access_token: token }),
    })
    if (status !== 200) throw refuse.providerRefused()
    return token
  }

  return {
    credentials: ['accessToken', 'code'],
    companions: ['codeVerifier'],
    async profile(body) {
      const ask = createAsk()
      const token =
        typeof body.accessToken === 'string'
          ? await checkToken(ask, body.accessToken)
          : await exchangeCode(ask, String(body.code), codeVerifierIn(body))
      const headers = { ...JSON_HEADERS, Authorization: `Bearer ${token}` }
      const user = await ask(urls.user, { headers })
      const { id, name: fullName } = user.body
      if (user.status !== 200) throw refuse.providerRefused()
      const email = await mailbox(ask, urls.emails, headers)
      return verified(id, { email, name: fullName }, email !== undefined)
    },
  }
}

/** The PKCE verifier of a code (RFC 7636); GitHub checks that it fits. */
function codeVerifierIn({ codeVerifier }: Fields): string | undefined {
  if (codeVerifier === undefined || codeVerifier === '') return undefined
  if (typeof codeVerifier !== 'string' || !VERIFIER.test(codeVerifier))
    throw refuse.providerRefused()
  return codeVerifier
}

/** RFC 7636 §4.1. */
const VERIFIER = /^[\w\-.~]{43,128}$/

/** The primary address, if GitHub has verified it; the public one of the profile proves nothing. */
async function mailbox(
  ask: Ask,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const { json } = await ask(url, { headers })
  const addresses = Array.isArray(json) ? (json as Fields[]) : []
  const own = addresses.find((item) => item?.primary === true && item.verified === true)
  return typeof own?.email === 'string' ? own.email : undefined
}
