/**
 * D1 databases for tests, each with tables of its own.
 *
 * @module
 */

import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll } from 'vitest'
import type { D1Binding } from '../../../adapters/stores/sqlite/d1.ts'

/** Returns a function that hands out `most` empty databases, one after the other. */
export async function freshD1(most: number): Promise<() => D1Binding> {
  const names = Array.from({ length: most }, (_, index) => `DB${index}`)
  const workerd = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: 'export default { fetch: () => new Response() }',
      compatibilityDate: '2026-01-01',
      d1Databases: names,
    }),
  )
  afterAll(() => workerd.dispose())
  const bindings = await Promise.all(names.map((name) => workerd.getD1Database(name)))
  return () => {
    const binding = bindings.pop()
    if (!binding) throw new Error(`these tests need more than ${most} databases`)
    return binding as unknown as D1Binding
  }
}
