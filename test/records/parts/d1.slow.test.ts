import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll } from 'vitest'
import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/d1.ts'
import type { Store } from '../../../src/index.ts'
import { nulls } from './nulls.ts'
import { objects } from './objects.ts'

const MOST = 60
const names = Array.from({ length: MOST }, (_, index) => `DB${index}`)
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

/** Stores on a database that no other test has had. */
function open(): { store(): Store } {
  const binding = bindings.pop()
  if (!binding) throw new Error(`these tests need more than ${MOST} databases`)
  return { store: () => d1Store(binding as unknown as D1Binding) }
}

nulls('D1', () => open().store())
objects('D1', open)
