/** The providers that the `social` option enables. */

import type { Fields } from '../../ports/store.ts'
import { fail, needsPart } from '../option-checks.ts'
import type { Maker, Provider, ProviderOptions, SocialOptions } from './provider.ts'

/** The providers that have a part each; all other names are providers of the app. */
const OURS = ['google', 'apple', 'facebook', 'github']

type Names = Readonly<Record<string, string | undefined>> | undefined

/** The enabled providers by name. Throws a start-up error if one lacks its credentials, or its part among `makers`. */
export function enabledProviders(
  social: SocialOptions | undefined,
  names: Names,
  makers: ReadonlyMap<string, Maker>,
): ReadonlyMap<string, Provider> {
  const providers = new Map<string, Provider>()
  for (const [name, settings] of entriesOf(social)) {
    const isOurs = OURS.includes(name)
    const make =
      makers.get(isOurs ? `social.${name}` : 'social') ??
      needsPart(`social.${name}`, isOurs ? name : 'ownProviders')
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
