/**
 * Signing in at providers: the browser goes there and comes back to this page, which needs no script of theirs.
 *
 * @module
 */

import type { AccountCalls, Outcome, Values } from './data.ts'
import type { Accounts } from './document.ts'
import { session } from './kept.ts'

/** How the page sends people to a provider of `social`. */
export interface SocialProvider {
  readonly clientId: string
  readonly url: string
  readonly scope: string
  readonly gives: 'idToken' | 'accessToken' | 'code'
}

/** A provider to offer. */
export interface Provider {
  readonly name: string
  /** Leaves the page. */
  readonly begin: () => Promise<unknown>
}

/** What the page keeps of a sign-in that it has begun. */
interface Begun {
  readonly state: string
  readonly provider: string
  readonly secret: string
}

const KEPT = 'fieldgate-admin.provider'
/** Keeps the path to come back to, for the tab. */
export const PLACE = 'fieldgate-admin.place'
const RESPONSES = { idToken: 'id_token', accessToken: 'token', code: 'code' } as const

/** The providers that bring people back to this page. */
export function providersOf(
  { routes }: Accounts,
  calls: AccountCalls,
  social: Readonly<Record<string, SocialProvider>>,
): readonly Provider[] {
  const choices = (route: string, name: string) =>
    routes[route]?.operation.parameters?.find((one) => one.name === name)?.schema?.enum ?? []
  const { origin, pathname } = location
  const places = choices('beginOidc', 'returnTo')
  const returnTo = [pathname, origin + pathname].find((place) => places.includes(place))
  const open = returnTo === undefined ? [] : choices('beginOidc', 'name').map(String)
  const own = Object.entries(social).filter(([name]) =>
    choices('social', 'provider').includes(name),
  )
  return [
    ...open.map((name) => ({ name, begin: () => calls.oidc.begin(name, { returnTo }) })),
    ...own.map(([name, provider]) => ({ name, begin: () => begin(name, provider) })),
  ]
}

async function begin(name: string, { clientId, url, scope, gives }: SocialProvider): Promise<void> {
  const begun: Begun = { state: random(), provider: name, secret: random() }
  session.setItem(KEPT, JSON.stringify({ ...begun, gives }))
  const proof = new Uint8Array(
    await crypto.subtle.digest('SHA-256', new TextEncoder().encode(begun.secret)),
  )
  const there = new URL(url)
  const asked = {
    client_id: clientId,
    redirect_uri: location.origin + location.pathname,
    response_type: RESPONSES[gives],
    state: begun.state,
    ...(scope !== '' && { scope }),
    // The provider sees only the digest, so that a token which leaks is of no use without this page.
    ...(gives === 'idToken' && { nonce: hex(proof) }),
    ...(gives === 'code' && { code_challenge: base64url(proof), code_challenge_method: 'S256' }),
  }
  for (const [key, value] of Object.entries(asked)) there.searchParams.set(key, value)
  location.assign(there)
}

/** Signs in by what the page was opened with; undefined if that is not from a provider. */
export async function arrive(calls: AccountCalls): Promise<Outcome<unknown> | undefined> {
  const given = new URLSearchParams(`${location.hash.slice(1)}&${location.search.slice(1)}`)
  const kept = session.getItem(KEPT)
  const begun = kept === null ? undefined : (JSON.parse(kept) as Begun & SocialProvider)
  if (!begun || begun.state !== given.get('state')) return calls.oidc.finish()
  session.removeItem(KEPT)
  history.replaceState(null, '', location.pathname)
  const error = given.get('error')
  if (error) return { ok: false, error: { status: 0, message: error } as never }
  return calls.social?.(begun.provider, credentialIn(given, begun)) as Promise<Outcome<unknown>>
}

function credentialIn(given: URLSearchParams, { gives, secret }: Begun & SocialProvider): Values {
  const value = given.get(
    gives === 'idToken' ? 'id_token' : gives === 'code' ? 'code' : 'access_token',
  )
  if (gives === 'idToken') return { idToken: value, nonce: secret }
  return gives === 'code' ? { code: value, codeVerifier: secret } : { accessToken: value }
}

/** Whether the address may be that of someone who comes back from a provider. */
export function isArrival({ hash, search }: Location): boolean {
  return /[#?&](?:code|error|id_token|access_token)=/.test(hash + search)
}

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)))
}

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
