import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { type Collection, createAuthRouter, type Fields, type Store } from '../../src/index.ts'
import { StoreUnavailable } from '../../src/ports/store/store-errors.ts'
import { authOptions, password, userModel } from './accounts.ts'
import { type Service, type ServiceOptions, service } from './service.ts'

const social = { own: { verify: ({ profile }: Fields) => profile } }

/** An app with all routes. */
function everyRoute(auth: object = {}, more: Partial<ServiceOptions> = {}): Promise<Service> {
  return service({ unique: ['ownId'], ...more, auth: { social, ...auth } as never })
}

/** A request of each route that would succeed if its sender may send it. */
function bodies(refreshToken: string): Record<string, Fields> {
  return {
    register: { email: 'new@example.com', password },
    login: { identifier: 'ann@example.com', password },
    social: { profile: { id: 'ann' } },
    forgotPassword: { identifier: 'ann@example.com' },
    resetPassword: { identifier: 'ann@example.com', code: '000000', newPassword: password },
    changePassword: { currentPassword: 'a wrong password', newPassword: password },
    refresh: { refreshToken },
    logout: { refreshToken },
    updateUser: { name: 'Ann' },
    modifyRoles: { role: 'user' },
  }
}

const pathOf = (path: string, id: string) =>
  `/auth${path.replace(':id', id).replace(':provider', 'own')}`
const names = namesOfRoutes()

function namesOfRoutes(): readonly string[] {
  const auth = { social } as never
  const User = userModel({ auth, unique: ['ownId'] })
  return createAuthRouter(authOptions(User, [], auth)).router.urls.map(({ name }) => name)
}

describe('4.5 every route', () => {
  it('is there: the fourteen of the contract, and those of sessions', () => {
    expect(names).toHaveLength(17)
  })
})

describe.each(names)('4.5 the route %s', (name) => {
  function rowOf({ auth }: Service) {
    const row = auth.router.urls.find((url) => url.name === name)
    if (!row) throw new Error(`no route ${name}`)
    return row
  }

  /** Sends the request of this route. */
  async function ask(app: Service, as?: { token: string }) {
    const row = rowOf(app)
    const ann = await app.register('ann@example.com')
    const body = bodies(ann.refreshToken)[name]
    const path = pathOf(row.path, ann.user._id)
    return { row, answer: await app.call(row.method, path, body, as?.token) }
  }

  it('asks for a sign-in, or for an admin, where the contract does', async () => {
    const { row, answer } = await ask(await everyRoute())
    expect(answer.body.error === 'Authentication required.').toBe(row.access !== 'anyone')
    const app = await everyRoute()
    const { answer: asBob } = await ask(app, await app.register('bob@example.com'))
    const closed = row.access === 'admin' || row.access === 'self or admin'
    expect(asBob.status === 403).toBe(closed)
  })

  it('gives an envelope that no cache keeps', async () => {
    const app = await everyRoute()
    const { answer } = await ask(app, await app.admin())
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.body.success).toBe(answer.status < 400)
  })

  it('fails closed while the store is down', async () => {
    let down = false
    const app = await everyRoute({}, { store: failing(() => down) })
    const admin = await app.admin()
    const { row } = await ask(app)
    const ann = (await app.post('/auth/login', { email: 'ann@example.com', password })).body.data
    down = true
    const path = pathOf(row.path, ann.user._id)
    const body = bodies(ann.refreshToken)[name]
    const answer = await app.call(row.method, path, body, admin.token)
    expect([500, 503]).toContain(answer.status)
    expect(Object.keys(answer.body).sort()).toEqual(['error', 'requestId', 'success'])
  })

  it('runs the middlewares of its name first', async () => {
    const ran: string[] = []
    const middlewares = { all: () => void ran.push('all'), [name]: () => void ran.push(name) }
    const app = await everyRoute({ middlewares })
    const ann = await app.register('ann@example.com')
    ran.length = 0
    const { method, path } = rowOf(app)
    await app.call(method, pathOf(path, ann.user._id), bodies(ann.refreshToken)[name])
    expect(ran).toEqual(['all', name])
  })

  it('has the path that routes chooses, or is not there', async () => {
    const { method, path: usual } = rowOf(await everyRoute())
    const moved = await everyRoute({ routes: { [name]: `/moved${usual}` } })
    const gone = await everyRoute({ routes: { [name]: false } })
    const isThere = async (app: Service, path: string) => {
      const body = method === 'GET' ? undefined : {}
      const answer = await app.call(method, pathOf(path, 'f'.repeat(24)), body)
      return !['Not found.', 'Method not allowed.'].includes(answer.body.error)
    }
    expect(await isThere(moved, `/moved${usual}`)).toBe(true)
    expect(await isThere(moved, usual)).toBe(false)
    expect(await isThere(gone, usual)).toBe(false)
  })
})

it('4.5 a list of middlewares runs before every route, and a name without any adds none', async () => {
  const ran: string[] = []
  const note = ({ url }: Request) => void ran.push(new URL(url).pathname)
  const app = await everyRoute({ middlewares: [note] })
  await app.register('ann@example.com')
  expect((await app.call('GET', '/auth/me')).status).toBe(401)
  expect(ran).toEqual(['/auth/register', '/auth/me'])
  const open = await everyRoute({ middlewares: { register: undefined } })
  expect((await open.register('ann@example.com')).token).toBeDefined()
})

/** A store that can be made to fail. */
function failing(isDown: () => boolean): Store {
  const store = sqliteStore()
  const guarded =
    <A extends unknown[], T>(work: (...given: A) => Promise<T>) =>
    async (...given: A): Promise<T> => {
      if (isDown()) throw new StoreUnavailable('the store is down')
      return work(...given)
    }
  return {
    ...store,
    collection(schema) {
      const of = store.collection(schema)
      const { findJson } = of
      return {
        find: guarded(of.find),
        ...(findJson && { findJson: guarded(async (read) => findJson(read)) }),
        count: guarded(of.count),
        estimate: guarded(of.estimate),
        insert: guarded(of.insert),
        update: guarded(of.update),
        updateMany: guarded(of.updateMany),
        delete: guarded(of.delete),
      } satisfies Collection
    },
  }
}
