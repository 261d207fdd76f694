/**
 * The providers that the `social` option enables.
 *
 * @module
 */

import { HttpError } from '../../http/errors.ts'
import type { Fields } from '../../ports/store.ts'
import { withTimeout } from '../../ports/with-timeout.ts'
import { fail } from '../option-checks.ts'
import { providerRefused, providerUnreachable } from '../refusals.ts'
import { DEADLINE_MS } from './ask.ts'
import { facebookProvider } from './facebook.ts'
import { githubProvider } from './github.ts'
import { appleProvider, googleProvider } from './id-token.ts'
import {
  type CustomOptions,
  type Provider,
  type ProviderOptions,
  providerId,
  type SocialOptions,
} from './provider.ts'

type Maker = (name: string, idField: string, settings: never) => Provider

const BUILT_IN: ReadonlyMap<string, Maker> = new Map<string, Maker>([
  ['google', googleProvider],
  ['apple', appleProvider],
  ['facebook', facebookProvider],
  ['github', githubProvider],
])

type Names = Readonly<Record<string, string | undefined>> | undefined

/** The enabled providers by name. Throws a start-up error if one lacks its credentials. */
export function enabledProviders(
  social: SocialOptions | undefined,
  names: Names,
): ReadonlyMap<string, Provider> {
  const providers = new Map<string, Provider>()
  for (const [name, settings] of entriesOf(social)) {
    const make = BUILT_IN.get(name) ?? customProvider
    providers.set(name, make(name, idFieldOf(name, settings, names), settings as never))
  }
  const fields = [...providers.values()].map(({ idField }) => idField)
  if (new Set(fields).size < fields.length) fail(`'social' gives two providers the same 'idField'`)
  return providers
}

/** The stored fields of the enabled providers' ids. */
export function idFieldsOf(social: SocialOptions | undefined, names: Names): readonly string[] {
  return entriesOf(social).map(([name, settings]) => idFieldOf(name, settings, names))
}

function entriesOf(
  social: SocialOptions | undefined,
): readonly (readonly [string, ProviderOptions])[] {
  if (social === undefined) return []
  if (typeof social !== 'object' || social === null) fail(`'social' must be an object`)
  return Object.entries(social as Fields)
    .filter(([name, settings]) => name !== 'linking' && settings !== undefined)
    .map(([name, settings]) => {
      if (typeof settings !== 'object' || settings === null)
        fail(`'social.${name}' must be an object`)
      return [name, settings as ProviderOptions] as const
    })
    .filter(([, settings]) => settings.enabled !== false)
}

function idFieldOf(name: string, settings: ProviderOptions, names: Names): string {
  const usual = `${name}Id`
  const { idField } = settings
  if (idField !== undefined && (typeof idField !== 'string' || idField === '')) {
    fail(`'social.${name}.idField' must be the name of a field`)
  }
  return idField ?? names?.[usual] ?? usual
}

/** Any other name, with `verify`. If it throws, the sign-in is refused; an HttpError says how. */
function customProvider(name: string, idField: string, settings: CustomOptions): Provider {
  if (typeof settings.verify !== 'function') fail(`'social.${name}' needs 'verify', a function`)
  return {
    name,
    idField,
    credentials: [],
    async profile(body) {
      const profile = await withTimeout(
        DEADLINE_MS,
        async () => settings.verify(body, settings),
        () => providerUnreachable(),
      ).catch((error: unknown) => {
        throw error instanceof HttpError ? error : providerRefused()
      })
      const { id, email, emailVerified, name: fullName } = profile ?? {}
      if (!profile) throw providerRefused()
      return {
        id: providerId(id),
        ...(typeof email === 'string' && { email }),
        emailVerified: emailVerified === true,
        ...(typeof fullName === 'string' && { name: fullName }),
      }
    },
  }
}
