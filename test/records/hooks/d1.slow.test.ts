import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll } from 'vitest'
import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/d1.ts'
import { hooks } from './suite.ts'

const names = Array.from({ length: 10 }, (_, index) => `DB${index}`)
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

hooks('D1', () => {
  const binding = bindings.pop() as unknown as D1Binding | undefined
  if (!binding) throw new Error(`these tests need more than ${names.length} databases`)
  return [d1Store(binding), d1Store(binding)]
})
