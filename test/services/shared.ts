/**
 * The services of a test run, shared by its test files: the run's main process starts each the first time that a
 * file asks (setup.ts).
 *
 * @module
 */

import { describe, inject, it } from 'vitest'
import type { Services } from './catalogue.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the run's main process hands out services; empty for quick tests, which have none. */
    services: string
    /** Where tests leave files: it goes with the run. */
    folder: string
  }
}

/**
 * Registers the suites of `define` with a service that they need; await it at the top of a test file. Where the
 * service cannot be had they are skipped, with the reason as the title, but with `CI=true` that is an error.
 */
export async function withService<Name extends keyof Services>(
  name: Name,
  define: (service: Omit<Services[Name], 'stop'>) => void | Promise<void>,
): Promise<void> {
  const found = await ask(name)
  if (!('missing' in found)) return define(found)
  const reason = `no ${name} to test with: ${found.missing}`
  if (process.env.CI === 'true') throw new Error(reason)
  console.warn(`Skipped, ${reason}`)
  describe.skip(reason, () => {
    it('is needed', () => {})
  })
}

/** The folder with the modules of the package, made by the first who asks. */
export async function builtPackage(): Promise<string> {
  return (await needed('package')).folder
}

/** The package with all that npm publishes, made by the first who asks. */
export function publishedPackage(): Promise<Omit<Services['published'], 'stop'>> {
  return needed('published')
}

/** `fieldgate-admin`, built by the first who asks. */
export function adminPackage(): Promise<Omit<Services['admin'], 'stop'>> {
  return needed('admin')
}

async function needed<Name extends keyof Services>(name: Name): Promise<Services[Name]> {
  const found = await ask(name)
  if ('missing' in found) throw new Error(found.missing)
  return found
}

async function ask<Name extends keyof Services>(
  name: Name,
): Promise<Services[Name] | { readonly missing: string }> {
  const services = inject('services')
  if (services === '') throw new Error('a quick test has no services: name its file *.slow.test.ts')
  const answer = await fetch(`${services}/${name}`)
  return (await answer.json()) as Services[Name] | { missing: string }
}
