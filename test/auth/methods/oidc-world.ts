/**
 * An app that signs in at issuers, and people who do.
 *
 * @module
 */

import { type OidcOptions, oidc } from '../../../adapters/methods/oidc/index.ts'
import type { Fields } from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { emailCode } from '../../../src/methods/email-code/index.ts'
import { totp } from '../../../src/methods/totp/index.ts'
import { type ServiceOptions, service } from '../service.ts'
import { type Issuer, startIssuer } from './issuer.ts'
import { Visitor } from './visitor.ts'

export const email = 'ann@example.com'

/** An app with one issuer, `company`, and with `more` of them. */
export async function company(
  { auth, ...options }: ServiceOptions = {},
  own: Partial<OidcOptions> = {},
  more: readonly OidcOptions[] = [],
) {
  let now = () => Date.now()
  const issuer = await startIssuer(() => now())
  const first = { name: 'company', issuer: issuer.url, clientId: 'atlas' }
  const returnTo = ['https://example.com/in', '/in']
  const methods = [
    ...[{ ...first, returnTo, ...own }, ...more].map((one) => oidc(one)),
    totp({ issuer: 'Atlas' }),
    emailCode(),
    apiKeys(),
  ]
  const events: string[] = []
  const onSecurityEvent = ({ type }: { type: string }) => void events.push(type)
  const app = await service({ ...options, auth: { methods, onSecurityEvent, ...auth } })
  now = app.now
  const visitor = new Visitor(app.app)

  /** What the page gets after a sign-in at the issuer, who says `claims`. */
  async function brought(
    claims: Fields = {},
    { by = visitor, at = issuer, name = 'company', iss = at.url }: By = {},
  ): Promise<string> {
    const asked = await by.begin(name)
    at.say = { ...at.say, claims: { nonce: asked.searchParams.get('nonce'), ...claims } }
    const outcome = await by.answer(asked, { code: 'a code', iss })
    return outcome.get('code') ?? `error: ${outcome.get('error')}`
  }
  /** Signs in as the person of `claims`. */
  const signIn = async (claims: Fields = {}, by: By = {}) =>
    app.post('/auth/login/oidc', { code: await brought(claims, by) })
  return { ...app, issuer, visitor, events, brought, signIn }
}

interface By {
  readonly by?: Visitor
  readonly at?: Issuer
  readonly name?: string
  /** Who answers. */
  readonly iss?: string
}

/** The claims of a person whose address the issuer vouches for. */
export const vouched = { email, email_verified: true }
