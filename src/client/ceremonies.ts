/**
 * The ceremonies of passkeys in a browser, on `@simplewebauthn/browser`, which is loaded when one begins.
 *
 * @module
 */

import type { Result } from './results.ts'

/** Calls a route of the auth router. */
type Ask = (route: string, ...given: unknown[]) => Promise<Result<unknown, unknown>>

/** What a ceremony begins with. */
interface Begun {
  readonly publicKey: never
  readonly ticket: string
}

async function browser() {
  try {
    return await import('@simplewebauthn/browser')
  } catch (cause) {
    throw new Error('Passkeys need a package: npm install @simplewebauthn/browser', { cause })
  }
}

/** Registers a passkey for the signed-in user. */
export function register(
  ask: Ask,
  options: { readonly name?: string } = {},
): Promise<Result<unknown, unknown>> {
  return ceremony(
    () => ask('beginPasskey'),
    async (optionsJSON) => (await browser()).startRegistration({ optionsJSON }),
    (ticket, credential) => ask('createPasskey', { ticket, credential, ...options }),
  )
}

/** Signs in by a passkey; with `ticket`, it is the second step after another first one. */
export function signIn(
  ask: Ask,
  {
    autofill = false,
    ticket: first,
  }: { readonly autofill?: boolean; readonly ticket?: string } = {},
): Promise<Result<unknown, unknown>> {
  return ceremony(
    () => ask('beginPasskeyLogin', first === undefined ? {} : { ticket: first }),
    async (optionsJSON) =>
      (await browser()).startAuthentication({ optionsJSON, useBrowserAutofill: autofill }),
    (ticket, credential) =>
      first === undefined
        ? ask('passkeyLogin', { ticket, credential })
        : ask('login', { ticket, passkey: credential }),
  )
}

/** A user who cancels is a failure like any other, with status 0. */
async function ceremony(
  begin: () => Promise<Result<unknown, unknown>>,
  ask: (publicKey: never) => Promise<unknown>,
  end: (ticket: string, credential: unknown) => Promise<Result<unknown, unknown>>,
): Promise<Result<unknown, unknown>> {
  const begun = await begin()
  if (!begun.ok) return begun
  const { publicKey, ticket } = begun.data as Begun
  let credential: unknown
  try {
    credential = await ask(publicKey)
  } catch (error) {
    const message = String((error as Error)?.message ?? error)
    return { ok: false, error: { status: 0, message } }
  }
  return end(ticket, credential)
}
