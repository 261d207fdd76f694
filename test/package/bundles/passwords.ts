import * as z from 'zod/mini'
import { commonPasswords } from '../../../adapters/passwords/common.ts'
import { worker } from '../../../adapters/runtimes/workers.ts'
import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { createApp, createAuthRouter, defineModel, userFields } from '../../../src/index.ts'

const User = defineModel('User', {
  fields: { name: z.optional(z.string()), ...userFields() },
  unique: ['email'],
})

export default worker<{ readonly DB: D1Binding; readonly SECRET: string }>((env) => {
  const app = createApp({ store: d1Store(env.DB) })
  const password = { common: commonPasswords }
  const token = { secret: env.SECRET }
  return app.mount('/auth', createAuthRouter({ model: User, token, password }).router)
})
