/**
 * Reads a provider's settings: credentials, and URLs that tests and gateways replace.
 *
 * @module
 */

import { isLoopback } from '../../http/host.ts'
import { fail } from '../option-checks.ts'
import type { ProviderOptions } from './provider.ts'

/** A setting that must be a string. */
export function requireSetting(provider: string, setting: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  return fail(`'social.${provider}' needs '${setting}'`)
}

/** The URLs of a provider by name: its own, or those of the `endpoints` setting. */
export function endpointsOf<Name extends string>(
  provider: string,
  settings: ProviderOptions,
  own: Readonly<Record<Name, string>>,
): Readonly<Record<Name, string>> {
  const { endpoints } = settings
  if (endpoints === undefined) return own
  if (typeof endpoints === 'string') {
    const moved = Object.entries<string>(own).map(([name, url]) => {
      const { pathname, search } = new URL(url)
      return [name, `${origin(provider, endpoints)}${pathname}${search}`]
    })
    return Object.fromEntries(moved) as Record<Name, string>
  }
  for (const [name, url] of Object.entries(endpoints)) {
    if (!Object.hasOwn(own, name))
      fail(`'social.${provider}.endpoints' has the unknown key '${name}'`)
    origin(provider, url)
  }
  return { ...own, ...endpoints }
}

function origin(provider: string, url: string): string {
  return checkedUrl(`social.${provider}.endpoints`, url).replace(/(^|[^/])\/+$/, '$1')
}

/** A setting that must be a URL: it receives secrets, and its response decides who signs in. */
export function checkedUrl(option: string, url: string): string {
  if (typeof url !== 'string' || !URL.canParse(url)) {
    return fail(`'${option}' must be a URL (got '${url}')`)
  }
  const { protocol } = new URL(url)
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(url))
  return isSafe ? url : fail(`'${option}' must begin with 'https:' (got '${url}')`)
}
