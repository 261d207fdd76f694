/**
 * The authentication API as a Worker on D1, for workerd.test.ts.
 *
 * @module
 */

import { type D1Binding, d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import {
  type App,
  createApp,
  createAuthRouter,
  defineModel,
  type Platform,
  userFields,
} from '../../src/index.ts'

const options = { refresh: { enabled: true } } as const
const User = defineModel('User', {
  fields: userFields(options),
  unique: ['email'],
  timestamps: true,
})
const auth = createAuthRouter({
  ...options,
  model: User,
  token: { secret: 'a secret of the tests, 32 characters or more' },
})

let app: App | undefined

export default {
  fetch(request: Request, env: { DB: D1Binding }, platform: Platform): Promise<Response> {
    if (!app) {
      app = createApp({ store: d1Store(env.DB) })
      app.mount('/auth', auth.router)
    }
    return app.handle(request, env, platform)
  },
}
