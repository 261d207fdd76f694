import * as z from 'zod'
import { worker } from '../../../adapters/runtimes/workers.ts'
import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import {
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  userFields,
} from '../../../src/index.ts'

const User = defineModel('User', {
  fields: { name: z.string().optional(), ...userFields() },
  unique: ['email'],
})
const City = defineModel('City', { fields: { name: z.string() } })

export default worker<{ readonly DB: D1Binding; readonly SECRET: string }>((env) => {
  const app = createApp({ store: d1Store(env.DB) })
  app.mount('/auth', createAuthRouter({ model: User, token: { secret: env.SECRET } }).router)
  return app.mount('/cities', createRouter({ model: City }))
})
