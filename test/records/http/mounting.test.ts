import { expect, test } from 'vitest'
import { createAuthRouter, defineModel, userFields } from '../../../src/index.ts'
import { service } from '../service.ts'

const User = defineModel('MountedUser', { fields: userFields(), unique: ['email'] })
const auth = createAuthRouter({
  model: User,
  token: { secret: 'a secret that is only good for tests 1' },
})
/** As `express.Router()` is: a function with methods. */
const ofExpress = Object.assign(() => undefined, { handle() {}, use() {}, stack: [] })

test.each<readonly [what: string, given: () => unknown, told: string]>([
  ['a router of Express', () => ofExpress, 'leave it in your server'],
  ['an app', () => service().app, 'This is an app: mount its routers'],
  ['an auth router and its guards', () => auth, 'write auth.router'],
  ['nothing', () => undefined, 'still loading'],
  ['null', () => null, 'still loading'],
  ['a string', () => 'cities', 'still loading'],
])('%s cannot be mounted, and is told apart', async (_, given, told) => {
  const on = service()
  const mount = () => on.app.mount('/x', given() as never)
  expect(mount).toThrow(TypeError)
  expect(mount).toThrow("app.mount('/x', …) takes a router, e.g. that of createRouter(). ")
  expect(mount).toThrow(told)
  expect((await on.send('GET', '/x')).status).toBe(404)
})
