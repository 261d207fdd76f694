import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel } from '../../../src/index.ts'
import { service } from '../service.ts'
import { email, factored } from './factored.ts'

const newPassword = 'another battery of horses'

it('a first proof ends what methods keep that the app does not have at that time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'put-back-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const store = () => sqliteStore({ path: join(folder, 'accounts.db') })
  const app = await factored({ store: store() })
  const Thing = defineModel('PutBackThing', { fields: {} })
  app.app.mount('/things', createRouter({ model: Thing, middlewares: [app.auth.requireAuth] }))
  const key: string = (await app.makeKey(app.ann.token)).body.data.key
  await app.enrol()
  const use = async () => (await app.call('GET', '/things', undefined, key)).status
  expect([await use(), typeof (await app.ticketOf())]).toEqual([200, 'string'])

  // The methods are taken out, and the owner of the mailbox comes.
  const without = await service({ store: store() })
  await without.post('/auth/password/forgot', { identifier: email })
  const reset = { identifier: email, code: without.sent.at(-1)?.code, newPassword }
  expect((await without.post('/auth/password/reset', reset)).status).toBe(200)

  // They are put back.
  const login = { identifier: email, password: newPassword }
  const owner = await app.post('/auth/login', login)
  expect([await use(), owner.status]).toEqual([401, 200])
  // The owner cannot know whose it was.
  const listed = await app.call('GET', '/auth/keys', undefined, owner.body.data.token)
  expect(listed.body.data).toEqual([])
})
