import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll } from 'vitest'
import { type D1Binding, d1Store } from '../../adapters/stores/sqlite/d1.ts'
import { appOn, races } from './races.ts'

const workerd = new Miniflare(
  convertV4MiniflareOptions({
    modules: true,
    script: 'export default { fetch: () => new Response() }',
    compatibilityDate: '2026-01-01',
    d1Databases: ['DB'],
  }),
)
const binding = (await workerd.getD1Database('DB')) as unknown as D1Binding
afterAll(() => workerd.dispose())

races(
  'two apps on D1',
  appOn(() => d1Store(binding)),
)
