import { type Document, MongoClient, ObjectId } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { createApp, createAuthRouter } from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { totp } from '../../../src/methods/totp/index.ts'
import { cheap, password, secret } from '../../auth/accounts.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from './databases.ts'

/** How many accounts there are that nobody asks for, each with two keys. */
const OTHERS = 300

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)

  it('what accounts ask for is in an index, however many others there are', async () => {
    const client = new MongoClient(url, { monitorCommands: true })
    onTestFinished(() => client.close())
    const database = client.db(fresh())
    const quiet = () => {}
    const app = createApp({
      store: mongoStore({ client, database: database.databaseName }),
      logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      env: {},
    })
    onTestFinished(() => app.close())
    const { router } = createAuthRouter({
      token: { secret },
      refresh: { enabled: true },
      routes: { deleteUser: true },
      password: cheap,
      methods: [apiKeys(), totp({ issuer: 'Atlas' })],
      onSecurityEvent: () => {},
    })
    app.mount('/auth', router)
    const ask = async (method: string, path: string, body?: object, token?: string) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      const response = await app.handle(new Request(`http://localhost/auth${path}`, init))
      return { status: response.status, data: ((await response.json()) as Document).data }
    }
    const signedUp = async (email: string) =>
      (await ask('POST', '/register', { email, password })).data

    const users = database.collection('users')
    const admins = [await signedUp('ann@example.com'), await signedUp('bob@example.com')]
    const [ann, bob] = admins
    await users.updateMany({}, { $set: { role: 'admin' } })
    const owners = Array.from({ length: OTHERS }, () => new ObjectId())
    await users.insertMany(
      owners.map((_id, at) => ({ _id, email: `e${at}@example.com`, role: 'user' })),
    )
    const keys = owners.flatMap((_id) => [0, 1].map((slot) => ({ owner: String(_id), slot })))
    await database.collection('userapikeys').insertMany(keys)

    const sent: Document[] = []
    client.on('commandStarted', ({ command }) => sent.push(command))
    const rule = { mount: '*', actions: ['list'] }
    const made = await ask('POST', '/keys', { name: 'CI', allow: [rule] }, ann.token)
    const done = [
      made,
      await ask('GET', '/keys', undefined, ann.token),
      await ask('GET', '/users?role=admin', undefined, ann.token),
      await ask('DELETE', `/users/${owners[9]}/keys`, undefined, ann.token),
      await ask('PATCH', `/users/${bob.user._id}/roles`, { role: 'user' }, ann.token),
      await ask('DELETE', `/users/${bob.user._id}`, undefined, ann.token),
    ]
    expect(done.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200, 200])
    expect(done[2]?.data).toHaveLength(2)

    const read: string[] = []
    for (const command of sent.filter(({ find, findAndModify }) => find ?? findAndModify)) {
      const { find, findAndModify, filter, query, sort = {}, limit = 0 } = command
      const name = String(find ?? findAndModify)
      if (!name.startsWith('user')) continue
      const asked = database.collection(name).find(filter ?? query)
      const { executionStats } = await asked.sort(sort).limit(limit).explain('executionStats')
      if (executionStats.totalDocsExamined > 5)
        read.push(`${name} ${JSON.stringify(filter ?? query)}`)
    }
    expect(sent.length).toBeGreaterThan(done.length)
    expect(read).toEqual([])
  })
})
