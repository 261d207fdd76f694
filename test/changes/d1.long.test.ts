import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { onTestFinished } from 'vitest'
import { type D1Binding, d1Store } from '../../adapters/stores/sqlite/d1.ts'
import { changes } from './changes.ts'
import { meanwhile } from './meanwhile.ts'
import type { Database } from './served.ts'

const database: Database = async () => {
  const workerd = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: 'export default { fetch: () => new Response() }',
      compatibilityDate: '2026-01-01',
      d1Databases: ['DB'],
    }),
  )
  onTestFinished(() => workerd.dispose())
  const binding = (await workerd.getD1Database('DB')) as unknown as D1Binding
  return () => d1Store(binding)
}

changes('D1', database)
meanwhile('D1', database)
