import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll } from 'vitest'
import { type D1Binding, d1Store } from '../../adapters/stores/sqlite/d1.ts'
import { batches } from './suite.ts'

const workerd = new Miniflare(
  convertV4MiniflareOptions({
    modules: true,
    script: 'export default { fetch: () => new Response() }',
    compatibilityDate: '2026-01-01',
    d1Databases: ['DB0', 'DB1'],
  }),
)
afterAll(() => workerd.dispose())
const bindings = await Promise.all(['DB0', 'DB1'].map((name) => workerd.getD1Database(name)))

batches(
  'D1',
  (count) => {
    const binding = bindings.pop() as unknown as D1Binding
    return Array.from({ length: count }, () => d1Store(binding))
  },
  { batches: 30, writers: 4, moves: 3 },
)
