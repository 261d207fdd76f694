import * as z from 'zod/mini'
import { type R2Binding, r2Files } from '../../../adapters/files/r2.ts'
import { worker } from '../../../adapters/runtimes/workers.ts'
import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { createApp, createRouter, defineModel } from '../../../src/index.ts'

const City = defineModel('City', { fields: { name: z.string(), flag: z.string() } })
const upload = { fields: [{ name: 'flag' }] } as const

interface Env {
  readonly DB: D1Binding
  readonly FILES: R2Binding
  readonly SECRET: string
}

export default worker<Env>(({ DB, FILES, SECRET }) =>
  createApp({ store: d1Store(DB), files: r2Files(FILES, { secret: SECRET }) }).mount(
    '/cities',
    createRouter({ model: City, upload }),
  ),
)
