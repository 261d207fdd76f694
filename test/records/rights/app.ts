/**
 * The app of a programme of rules, with its accounts.
 *
 * @module
 */

import * as z from 'zod'
import { runDue, webhooks } from '../../../src/background/webhooks/index.ts'
import { batch } from '../../../src/batch/index.ts'
import { idempotency } from '../../../src/guards/index.ts'
import {
  type ApiRequest,
  type CacheStore,
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
  type Guard,
  HttpError,
  ref,
  type Store,
  userFields,
} from '../../../src/index.ts'
import { mcp } from '../../../src/mcp/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { cheap, password, secret } from '../../auth/accounts.ts'
import type { Receiver } from '../../background/receiver.ts'
import { type Message, service } from '../service.ts'
import {
  type Access,
  limitsOf,
  type Principal,
  type Programme,
  type RouterRules,
  type ScopeName,
} from './programme.ts'

const User = defineModel('RightsUser', {
  fields: {
    ...userFields(),
    ...{ team: z.string().default('a'), flag: z.boolean().default(false) },
  },
  unique: ['email'],
  changes: true,
})
const Kind = defineModel('RightsKind', {
  fields: { title: z.string(), team: z.string(), secret: z.string() },
  hidden: ['secret'],
})

/** Written to know how far the log has come: stores may hold back what was written last. */
const Mark = defineModel('RightsMark', { fields: { at: z.number() }, changes: true })

function docOf(hasOutput: boolean) {
  return defineModel('RightsDoc', {
    fields: {
      ...{ title: z.string(), salary: z.string().optional(), pin: z.string().optional() },
      info: z.object({ nick: z.string(), ssn: z.string() }).optional(),
      ...{ team: z.string().optional(), owner: ref('RightsUser').optional() },
      public: z.boolean().optional(),
      ...{ kind: ref('RightsKind').optional(), parent: ref('RightsDoc').optional() },
    },
    hidden: ['pin', 'info.ssn'],
    changes: true,
    ...(hasOutput && {
      output: (one: Fields) => ({
        ...one,
        ...(one.title !== undefined && { shout: `${one.title}!` }),
      }),
    }),
  } as never)
}

/** An account; `rights` are what its record says. */
export interface Account {
  readonly name: string
  readonly id: string
  rights: { readonly team: string; readonly role: string; readonly flag: boolean }
}

/** Who sends requests: nobody in particular, an account by its session, or by a key with what this may do at each mount. */
export interface Caller {
  readonly account: Account | undefined
  readonly allow: Readonly<Record<string, readonly string[]>> | undefined
  readonly token: string
}

type Asking = Pick<ApiRequest, 'auth' | 'user'>

/** Whom the guards of a route have found. */
const whoIs = ({ auth, user }: Asking): Principal | undefined =>
  auth && {
    id: auth.userId,
    team: String((user as Fields | undefined)?.team),
    role: String(auth.role),
  }

const scopeFor = (name: ScopeName) => (request: Asking) => {
  const limits = limitsOf(name, whoIs(request))
  return limits && (limits.length === 1 ? limits[0] : { or: limits })
}

const flagged: Guard = ({ user }) => {
  if ((user as Fields | undefined)?.flag !== true) throw new HttpError(403, 'No flag.')
}

type Auth = ReturnType<typeof createAuthRouter>

function accessFor(auth: Auth, access: Access): unknown {
  if (access === 'clerk') return [auth.requireAuth, auth.requireRole('clerk')]
  if (access === 'flag') return [auth.requireAuth, flagged]
  return access === 'all'
}

function entryOf(auth: Auth, { entry }: RouterRules): Guard[] {
  if (entry === 'anyone' || entry === 'owned') return []
  if (entry === 'clerk') return [auth.requireAuth, auth.requireRole('clerk')]
  if (entry === 'optional') return [auth.optionalAuth]
  return [entry === 'signed' ? auth.requireAuth : auth.requireSession]
}

function optionsOf(rules: RouterRules, auth: Auth) {
  const { read, write, isOneScope, entry, fields, access, onGet, isCached, isByCursor } = rules
  const { query, search, groups, expandable, sortable: sortableFields, allowed } = rules
  const scope = isOneScope ? scopeFor(read) : { read: scopeFor(read), write: scopeFor(write) }
  const isScoped = read !== 'all' || write !== 'all'
  return {
    middlewares: [
      ...entryOf(auth, rules),
      ...(rules.isKeyed ? [idempotency({ ttlSeconds: 9000 })] : []),
    ],
    ...(entry === 'owned' ? { ownedBy: 'owner' } : isScoped && { scope }),
    ...(fields && {
      fieldsFor: ({ auth: by }: Asking) =>
        by?.role === 'clerk' && !fields.isForClerks ? undefined : fields.names,
    }),
    access: Object.fromEntries(
      Object.entries(access).map(([action, one]) => [action, accessFor(auth, one)]),
    ),
    ...(onGet && { onGet: () => onGet }),
    ...{ query, search, sortableFields, expandable, aggregates: { by: groups } },
    filterableFields: query,
    ...{ allowedFields: allowed, cache: isCached, live: true, history: true, exportLimit: 1000 },
    ...{ maxLimit: 1000, ...(isByCursor && { pagination: 'cursor' }), methodOverride: true },
  }
}

/** What apps share that serve one after the other, or beside each other. */
export interface Place {
  /** Another connection to the same database. */
  open(): Store
  readonly cache: CacheStore
  /** For whom webhooks are sent, by the names of accounts; those for others are for anyone. */
  readonly hooks: readonly Hook[]
  /** The ids of accounts by their names. */
  readonly ids: Map<string, string>
}

export interface Hook {
  readonly name: string
  readonly receiver: Receiver
}

export const HOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

export async function appOf(programme: Programme, { open, cache, hooks, ids }: Place) {
  const made = service({ secret, cache, store: open() })
  const { app } = made
  const Doc = docOf(programme.hasOutput)
  const auth = createAuthRouter({
    ...{ model: User, token: { secret, expiresIn: '9h' }, password: cheap, methods: [apiKeys()] },
    roles: { list: ['user', 'clerk'] },
  } as never)
  app.mount('/auth', auth.router)
  for (const rules of programme.routers) {
    app.mount(rules.mount, createRouter({ model: Doc, ...optionsOf(rules, auth) } as never))
  }
  const { scope, isGuarded } = programme.kinds
  const kinds = {
    ...{ model: Kind, middlewares: isGuarded ? [auth.requireAuth] : [] },
    ...(scope !== 'all' && { scope: scopeFor(scope) }),
  }
  app.mount('/kinds', createRouter(kinds as never))
  app.mount('/batch', batch()).mount('/mcp', mcp({ write: ['create', 'update', 'remove'] }))

  for (const { name, receiver } of hooks) {
    webhooks(app, {
      ...{ name, allowPrivate: true, as: () => ({ userId: ids.get(name) }) },
      endpoints: [{ url: receiver.url, secret: HOOK_SECRET, models: ['RightsDoc'] }],
    } as never)
  }

  const sign = async (name: string, path: string) => {
    const json = { email: `${name}@example.com`, identifier: `${name}@example.com`, password }
    const { record, text } = await made.send('POST', path, { json })
    if (!record) throw new Error(text)
    return record as { token: string; user: { _id: string } }
  }
  await app.ready()
  const users = app.store.collection(User)
  return {
    ...{ app, log: made.log },
    docs: app.store.collection(Doc as never) as unknown as Docs,
    kinds: app.store.collection(Kind),
    marks: app.store.collection(Mark),
    async enrol(name: string): Promise<Account> {
      const { user } = await sign(name, '/auth/register')
      ids.set(name, user._id)
      return { name, id: user._id, rights: { team: 'a', role: 'user', flag: false } }
    },
    sendWebhooks: () => runDue(app),
    async session(account: Account): Promise<Caller> {
      const { token } = await sign(account.name, '/auth/login')
      return { account, allow: undefined, token }
    },
    async key(account: Account, allow: NonNullable<Caller['allow']>): Promise<Caller> {
      const { token } = await sign(account.name, '/auth/login')
      const rules = Object.entries(allow).filter(([, actions]) => actions.length > 0)
      const json = { name: 'k', allow: rules.map(([mount, actions]) => ({ mount, actions })) }
      const headers = { authorization: `Bearer ${token}` }
      const { record, text } = await made.send('POST', '/auth/keys', { json, headers })
      if (!record) throw new Error(text)
      return { account, allow, token: String(record.key) }
    },
    async grant(account: Account, rights: Partial<Account['rights']>): Promise<void> {
      account.rights = { ...account.rights, ...rights }
      await users.update(account.id, rights as never)
    },
    ask: ({ token }: Caller, method: string, path: string, { headers, ...rest }: Message = {}) => {
      const bearer = token === '' ? {} : { authorization: `Bearer ${token}` }
      return made.send(method, path, { ...rest, headers: { ...bearer, ...headers } })
    },
  }
}

interface Docs {
  insert(values: Fields): Promise<Fields & { _id: string }>
  update(id: string, values: Fields): Promise<unknown>
  delete(id: string): Promise<unknown>
}

export type World = Awaited<ReturnType<typeof appOf>>
