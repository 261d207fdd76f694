/** The calls for the routes of methods: loaded when the first of them is called. */

import type { Result } from '../sending/results.ts'
import type { MethodCalls, OidcCeremonies, PasskeyCeremonies } from './method-calls.ts'
import type { AskRoute } from './routes.ts'

/** The method and the path of each route, and marks, as in routes.ts. */
const ROUTES: Readonly<Record<keyof MethodCalls, string>> = {
  confirmLogin: 'POST /login/confirm !',
  listKeys: 'GET /keys -',
  createKey: 'POST /keys',
  deleteKey: 'DELETE /keys/:id -',
  deleteUserKeys: 'DELETE /users/:id/keys -',
  createTotp: 'POST /totp -',
  confirmTotp: 'POST /totp/confirm',
  deleteTotp: 'DELETE /totp -',
  createRecoveryCodes: 'POST /recovery-codes -',
  sendLoginCode: 'POST /login/code !',
  beginPasskey: 'POST /passkeys/options -',
  createPasskey: 'POST /passkeys',
  listPasskeys: 'GET /passkeys -',
  renamePasskey: 'PATCH /passkeys/:id',
  deletePasskey: 'DELETE /passkeys/:id -',
  beginPasskeyLogin: 'POST /login/passkey/options !',
  passkeyLogin: 'POST /login/passkey !',
  oidcLogin: 'POST /login/oidc !',
}

/** Calls the route of a method of the auth router at `base`, or does a ceremony. */
export async function callMethod(
  ask: AskRoute,
  name: string,
  given: unknown[],
  base: string,
): Promise<Result<unknown, unknown> | undefined> {
  const asking: Ask = async (route, ...values) => {
    const row = ROUTES[route as keyof MethodCalls]
    const result = await ask(route, [...values], row)
    // This one has a token, too: when that is too old, nothing of what was sent has been looked at.
    const isOld =
      route === 'confirmLogin' && !result.ok && /expired token/.test(result.error.message)
    return isOld ? ask(route, values, row.replace(' !', '')) : result
  }
  const [options] = given as [object?]
  if (name === 'register') return register(asking, options)
  if (name === 'signIn') return signIn(asking, options)
  if (name === 'confirm') return signIn(asking, { route: 'confirmLogin' })
  if (name === 'begin') return begin(base, ...(given as Parameters<OidcCeremonies['begin']>))
  if (name === 'finish') return finish(asking)
  // JSON asks it of whatever it meets, such as a logger's.
  if (name === 'toJSON') return undefined
  if (!Object.hasOwn(ROUTES, name)) throw new TypeError(`the client has no call '${name}'`)
  return asking(name, ...given)
}

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

/**
 * Leaves the page for a provider of the auth router at `base`. The page keeps a secret meanwhile: the code that comes back is of
 * use to it alone, so that nobody can sign a user in to another account by a link.
 */
async function begin(
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
async function finish(ask: Ask): Promise<Result<unknown, unknown> | undefined> {
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

type Ask = (route: string, ...given: unknown[]) => Promise<Result<unknown, unknown>>

async function browser() {
  try {
    return await import('@simplewebauthn/browser')
  } catch (cause) {
    throw new Error('Passkeys need a package: npm install @simplewebauthn/browser', { cause })
  }
}

/** How many ceremonies users have begun, and have not ended. A browser has one at a time: the later one ends the one before. */
const byUsers = { begun: 0, open: 0 }
/** The same of those that the page offers in a field. */
const offers = { begun: 0, open: 0 }

async function counted<T>(those: typeof byUsers, work: () => Promise<T>): Promise<T> {
  those.begun += 1
  those.open += 1
  try {
    return await work()
  } finally {
    those.open -= 1
  }
}

/** An offer asks the browser first whether it can make one. If that takes long, it ends what the user waits for: once more. */
async function insist<T>(ask: () => Promise<T>): Promise<T> {
  const { begun } = byUsers
  try {
    return await ask()
  } catch (error) {
    const { code } = error as { readonly code?: string }
    const isByOffer =
      code === 'ERROR_CEREMONY_ABORTED' && offers.open > 0 && begun === byUsers.begun
    if (!isByOffer) throw error
    return ask()
  }
}

function register(
  ask: Ask,
  options: { readonly name?: string } = {},
): Promise<Result<unknown, unknown>> {
  return counted(byUsers, () =>
    ceremony(
      () => ask('beginPasskey'),
      async (optionsJSON) => {
        const { startRegistration } = await browser()
        return insist(() => startRegistration({ optionsJSON }))
      },
      (ticket, credential) => ask('createPasskey', { ticket, credential, ...options }),
    ),
  )
}

/** What takes a passkey besides `passkeyLogin`. */
type Taking = { readonly route?: 'login' | 'confirmLogin' | undefined }

/** Signs in by a passkey; with `ticket`, it is the second step after another first one. */
function signIn(
  ask: Ask,
  {
    autofill = false,
    ticket: first,
    route = first === undefined ? undefined : 'login',
  }: Parameters<PasskeyCeremonies['signIn']>[0] & Taking = {},
): Promise<Result<unknown, unknown>> {
  const { begun } = byUsers
  const run = () =>
    ceremony(
      () => ask('beginPasskeyLogin', first === undefined ? {} : { ticket: first }),
      async (optionsJSON) => {
        const { startAuthentication } = await browser()
        // What the page only offers comes too late, and must not end what the user waits for.
        const isLate = byUsers.open > 0 || begun !== byUsers.begun
        if (autofill && isLate) throw new Error('Another way in has begun.')
        const start = () => startAuthentication({ optionsJSON, useBrowserAutofill: autofill })
        return autofill ? counted(offers, start) : insist(start)
      },
      (ticket, credential) =>
        route
          ? ask(route, { ticket, passkey: credential })
          : ask('passkeyLogin', { ticket, credential }),
    )
  return autofill ? run() : counted(byUsers, run)
}

/** A user who cancels is a failure like any other, with status 0. */
async function ceremony(
  begin: () => Promise<Result<unknown, unknown>>,
  ask: (publicKey: never) => Promise<unknown>,
  end: (ticket: string, credential: unknown) => Promise<Result<unknown, unknown>>,
): Promise<Result<unknown, unknown>> {
  const begun = await begin()
  if (!begun.ok) return begun
  const { publicKey, ticket } = begun.data as { publicKey: never; ticket: string }
  let credential: unknown
  try {
    credential = await ask(publicKey)
  } catch (error) {
    const message = String((error as Error)?.message ?? error)
    return { ok: false, error: { status: 0, message } }
  }
  return end(ticket, credential)
}
