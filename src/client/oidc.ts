/**
 * Signing in at OpenID providers, in a browser. The page keeps a secret meanwhile: the code that comes back is of use to it
 * alone, so that nobody can sign a user in to another account by a link.
 *
 * @module
 */

import type { Result } from './results.ts'

const KEPT = 'fieldgate-oidc'

/** What it needs of a page; servers and workers compile the client, too. */
interface Page {
  readonly location: {
    readonly hash: string
    readonly pathname: string
    readonly search: string
    assign(url: string): void
  }
  readonly history: {
    readonly state: unknown
    replaceState(state: unknown, unused: string, url: string): void
  }
  readonly sessionStorage: {
    getItem(key: string): string | null
    setItem(key: string, value: string): void
    removeItem(key: string): void
  }
}

/** Leaves the page for a provider of the auth router at `base`. */
export async function begin(
  base: string,
  provider: string,
  { returnTo }: { readonly returnTo: string },
): Promise<never> {
  const verifier = encoded(crypto.getRandomValues(new Uint8Array(32)))
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const { location, sessionStorage } = globalThis as unknown as Page
  sessionStorage.setItem(KEPT, verifier)
  const query = new URLSearchParams({ returnTo, challenge: encoded(new Uint8Array(hash)) })
  location.assign(
    `${base.replace(/([^:/])\/+/g, '$1/')}/login/oidc/${encodeURIComponent(provider)}?${query}`,
  )
  // The page ends before anything comes of it.
  return new Promise(() => {})
}

/** Signs in by what the page was opened with; undefined if that is not from a provider. */
export async function finish(
  ask: (route: string, ...given: unknown[]) => Promise<Result<unknown, unknown>>,
): Promise<Result<unknown, unknown> | undefined> {
  const { location, history, sessionStorage } = globalThis as unknown as Page
  const outcome = new URLSearchParams(location.hash.slice(1))
  const verifier = sessionStorage.getItem(KEPT)
  const [code, error] = [outcome.get('code'), outcome.get('error')]
  if (verifier === null || (code === null && error === null)) return undefined
  sessionStorage.removeItem(KEPT)
  // Neither another visit nor the history has it again.
  history.replaceState(history.state, '', location.pathname + location.search)
  return code === null
    ? { ok: false, error: { status: 0, message: String(error) } }
    : ask('oidcLogin', { code, verifier })
}

function encoded(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
