import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll } from 'vitest'
import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/d1.ts'
import { declaredOnly } from './suite.ts'

const workerds: Miniflare[] = []
afterAll(() => Promise.all(workerds.map((workerd) => workerd.dispose())))

declaredOnly('D1', async () => {
  const workerd = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: 'export default { fetch: () => new Response() }',
      compatibilityDate: '2026-01-01',
      d1Databases: ['DB'],
    }),
  )
  workerds.push(workerd)
  const binding = (await workerd.getD1Database('DB')) as unknown as D1Binding
  return () => d1Store(binding)
})
