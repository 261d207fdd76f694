import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { audit } from '../../src/audit/index.ts'
import { createClient, memoryStorage, type Result } from '../../src/client/index.ts'
import {
  type App,
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  type Managed,
  type RecordOf,
  ref,
  userFields,
} from '../../src/index.ts'

const token = { secret: 'a-secret-for-tests-0123456789-abcdefgh' }
const common = { token, password: { common: false }, lockout: {} } as const
const silent = { debug() {}, info() {}, warn() {}, error() {} }

function appOf() {
  const app = createApp({ store: sqliteStore(), logger: silent, env: {} })
  onTestFinished(() => app.close())
  return app
}

/** Notes with accounts. */
function notes() {
  const auth = createAuthRouter({
    ...common,
    fields: { name: z.string(), disabled: 'disabled', email: 'mail' },
    identifiers: ['email', 'phone'],
    refresh: { enabled: true },
    registerFields: ['name'],
    roles: { list: ['user', 'editor'] },
  })
  const Note = defineModel('OwnedNote', { fields: { text: z.string(), owner: ref('User') } })
  const app = appOf()
    .mount('/auth', auth.router)
    .mount('/notes', createRouter({ model: Note, ownedBy: 'owner', query: ['text'] }))
  return { app, auth, Note }
}

const clientOf = <A extends App>(app: A) =>
  createClient<A>('http://localhost', {
    storage: memoryStorage(),
    fetch: (input, init) => app.handle(new Request(input as string, init)),
  })

async function data<T, P>(call: Promise<Result<T, P>>): Promise<T> {
  const result = await call
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  return result.data
}

describe('createAuthRouter without a model', () => {
  it('has room for the sessions that the environment switches on', async () => {
    const auth = createAuthRouter(common)
    const env = { AUTH_REFRESH_ENABLED: 'true', AUTH_REFRESH_EXPIRES_IN: '1d' }
    const app = createApp({ store: sqliteStore(), logger: silent, env }).mount('/auth', auth.router)
    onTestFinished(() => app.close())
    const ann = { email: 'ann@example.com', password: 'correct horse battery' }
    const signedUp = await data(clientOf(app)('/auth').register(ann))
    expect(signedUp).toMatchObject({ refreshToken: expect.any(String), refreshExpiresIn: 86_400 })
  })

  it('makes one, with what the options need and the fields that they declare', () => {
    const { auth } = notes()
    expect(auth.model).toMatchObject({ name: 'User', unique: [['mail'], ['phone']] })
    const fields = ['name', 'mail', 'phone', 'role', 'disabled', 'password', 'refreshTokens']
    expect([...auth.model.shape.fields.keys()]).toEqual(expect.arrayContaining(fields))
    expectTypeOf<RecordOf<typeof auth.model>>().toEqualTypeOf<
      {
        name: string
        mail?: string | undefined
        phone?: string | undefined
        password?: string | undefined
        role: string
        disabled: boolean
      } & Managed
    >()
  })

  it('has the accounts of a model of one’s own', async () => {
    const { app, auth } = notes()
    const api = clientOf(app)
    const made = { mail: 'ann@example.com', password: 'a long pass phrase', name: 'Ann' }
    const { user } = await data(api('/auth').register(made))
    expectTypeOf(user.name).toEqualTypeOf<string>()
    expect(user).toEqual({
      ...made,
      _id: user._id,
      role: 'user',
      disabled: false,
      password: undefined,
    })
    const again = await api('/auth').register({ ...made, name: 'Bo' })
    expect(again).toMatchObject({ ok: false, error: { status: 409 } })
    await app.store.collection(auth.model).update(user._id, { disabled: true })
    expect(await api('/auth').me()).toMatchObject({ ok: false })
  })

  it('takes another name, and a list of roles', () => {
    const auth = createAuthRouter({ ...common, name: 'Member', roles: { multiple: true } })
    expect(auth.model.name).toBe('Member')
    expectTypeOf<RecordOf<typeof auth.model>['role']>().toEqualTypeOf<string[]>()
  })

  it('makes the ids of providers unique', () => {
    const auth = createAuthRouter({ ...common, social: { google: { clientId: 'x' } } })
    expect(auth.model.unique).toEqual([['email'], ['googleId']])
    expectTypeOf<RecordOf<typeof auth.model>['googleId']>().toEqualTypeOf<string | undefined>()
  })

  it.each<[object, string]>([
    [{ fields: { email: z.string() } }, `Auth: 'fields.email' is a field that accounts have`],
    [{ fields: { nmae: 'name' } }, `Auth: 'fields' has the unknown key 'nmae'`],
    [{ fields: { name: 5 } }, `Auth: 'fields.name' must be a string`],
    [{ registerFields: ['nmae'], fields: { name: z.string() } }, `no such field`],
  ])('refuses %o', (options, message) => {
    expect(() => createAuthRouter({ ...common, ...options } as never)).toThrow(message)
  })

  it('refuses schemas and a name beside a model', () => {
    const model = defineModel('OwnModel', { fields: userFields(), unique: ['email'] })
    expect(createAuthRouter({ ...common, model }).model).toBe(model)
    expect(() => createAuthRouter({ ...common, model, fields: { name: z.string() } })).toThrow(
      `Auth: 'fields.name' is a schema: with a 'model' of your own, declare the field there`,
    )
    expect(() => createAuthRouter({ ...common, model, name: 'User' })).toThrow(
      `Auth: 'name' is for`,
    )
  })

  it('is compiled against its fields', () => {
    const never = () => {
      const fields = { name: z.string() }
      // @ts-expect-error no such field
      createAuthRouter({ ...common, fields, registerFields: ['nmae'] })
      // @ts-expect-error no such stored name
      createAuthRouter({ ...common, fields: { emial: 'mail' } })
      createAuthRouter({ ...common, fields, onRegister: (user) => user.name.trim() })
      // @ts-expect-error no such option
      createAuthRouter({ ...common, fieldz: {} })
    }
    expect(never).toBeTypeOf('function')
  })
})

describe('ownedBy', () => {
  const signedIn = async (app: ReturnType<typeof notes>['app'], mail: string) => {
    const api = clientOf(app)
    await data(api('/auth').register({ email: mail, password: 'a long pass phrase', name: 'N' }))
    return api
  }

  it('shows each user their own records alone, and sets the owner', async () => {
    const { app } = notes()
    const [ann, bo] = [await signedIn(app, 'a@example.com'), await signedIn(app, 'b@example.com')]
    const note = await data(ann('/notes').create({ text: 'mine' }))
    const me = await data(ann('/auth').me())
    expect(note).toMatchObject({ text: 'mine', owner: me._id })
    expect(await data(bo('/notes').list())).toEqual([])
    expect(await bo('/notes').get(note._id)).toMatchObject({ error: { status: 404 } })
    expect(await bo('/notes').remove(note._id)).toMatchObject({ error: { status: 404 } })
    expect(await data(ann('/notes').list())).toEqual([note])
  })

  it('takes no owner from a client', async () => {
    const { app } = notes()
    const [ann, bo] = [await signedIn(app, 'a@example.com'), await signedIn(app, 'b@example.com')]
    const other = await data(bo('/auth').me())
    // @ts-expect-error the owner is closed
    const made = await ann('/notes').create({ text: 'a', owner: other._id })
    const me = await data(ann('/auth').me())
    if (made.ok) expect(made.data.owner).toBe(me._id)
    else expect(made.error.status).toBe(403)
    const note = await data(ann('/notes').create({ text: 'b' }))
    // @ts-expect-error the owner is closed
    await ann('/notes').update(note._id, { owner: other._id })
    expect((await data(ann('/notes').get(note._id))).owner).toBe(me._id)
  })

  it('refuses those who are not signed in, and the audit says so', async () => {
    const { app } = notes()
    expect(await clientOf(app)('/notes').list()).toMatchObject({ error: { status: 401 } })
    const rows = audit(app).filter(({ path }) => path.startsWith('/notes'))
    expect(rows.length).toBeGreaterThan(4)
    for (const row of rows) expect(row).toMatchObject({ who: 'signed in', scope: true })
  })

  it('needs accounts, a reference, and no scope', async () => {
    const { Note } = notes()
    const lonely = appOf().mount('/notes', createRouter({ model: Note, ownedBy: 'owner' }))
    await expect(lonely.ready()).rejects.toThrow(/'User'/)
    const mount = (options: object) => () =>
      appOf().mount('/notes', createRouter({ model: Note, ...options } as never))
    expect(mount({ ownedBy: 'ownr' })).toThrow(
      `Router '/notes': 'ownedBy' lists 'ownr', but OwnedNote has no such field. Did you mean 'owner'?`,
    )
    expect(mount({ ownedBy: 'text' })).toThrow(`'ownedBy' names 'text', which is no reference`)
    expect(mount({ ownedBy: 'owner', scope: () => ({ text: 'a' }) })).toThrow(`leave out 'scope'`)
    // @ts-expect-error no such field
    expect(() => createRouter({ model: Note, ownedBy: 'ownr' })).not.toThrow()
  })

  it('needs accounts of that very model', async () => {
    const { Note } = notes()
    const User = defineModel('User', { fields: { name: z.string() } })
    const app = appOf()
      .mount('/users', createRouter({ model: User, middlewares: [] }))
      .mount('/notes', createRouter({ model: Note, ownedBy: 'owner' }))
    await expect(app.ready()).rejects.toThrow(
      `Router '/notes': 'ownedBy' names 'owner', but the app has no accounts of the model 'User'. Mount the router of createAuthRouter`,
    )
  })
})
