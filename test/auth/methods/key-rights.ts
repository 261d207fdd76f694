/**
 * Random keys: none opens more than its owner may, none more than its `allow`, and no route of accounts.
 *
 * @module
 */

import * as z from 'zod'
import { createRouter, defineModel } from '../../../src/index.ts'
import type { Rule } from '../../../src/methods/api-keys/allow.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { service } from '../service.ts'

const Task = defineModel('Task', { fields: { title: z.string(), owner: z.string() } })
const Log = defineModel('Log', { fields: { text: z.string() } })
const Page = defineModel('Page', { fields: { text: z.string() } })

/** What is asked for, and how `allow` calls it; undefined for a route of accounts. */
type Asked = readonly [method: string, path: string, mount?: string, action?: string]

const ACTIONS = ['list', 'read', 'create', 'update', 'remove'] as const

function routesOf(mount: string, id: string): readonly Asked[] {
  return [
    ['GET', mount, mount, 'list'],
    ['HEAD', mount, mount, 'list'],
    ['QUERY', mount, mount, 'list'],
    ['GET', `${mount}/${id}`, mount, 'read'],
    ['POST', mount, mount, 'create'],
    ['PATCH', `${mount}/${id}`, mount, 'update'],
    ['DELETE', `${mount}/${'0'.repeat(24)}`, mount, 'remove'],
  ]
}

const ACCOUNTS: readonly Asked[] = [
  ['GET', '/auth/me'],
  ['GET', '/auth/users'],
  ['GET', '/auth/sessions'],
  ['POST', '/auth/keys'],
  ['POST', '/auth/password/change'],
]

/** Numbers that a seed gives, from 0 to less than `below`. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
}

/** An app with routers for everyone, for owners and for admins; who may own keys, and what there is to ask for. */
async function guarded() {
  const app = await service({ auth: { methods: [apiKeys({ maxPerUser: 1000 })] } })
  const { auth } = app
  const scope = (request: { auth?: { userId: string } }) => ({ owner: request.auth?.userId ?? '' })
  const own = { model: Task, middlewares: [auth.requireAuth], scope: scope as never }
  const tasks = createRouter(own)
  tasks.post('/:id/done', () => Response.json({ success: true }))
  app.app.mount('/tasks', tasks)
  const admins = [auth.requireAuth, auth.requireRole('admin')]
  app.app.mount('/logs', createRouter({ model: Log, middlewares: admins }))
  app.app.mount('/pages', createRouter({ model: Page, middlewares: [auth.optionalAuth] }))
  const [ann, bob] = [await app.register('ann@example.com'), await app.register('bob@example.com')]
  const { token } = await app.admin()
  const id = (await app.post('/logs', { text: 'x' }, token)).body.data._id
  const routes: readonly Asked[] = [
    ...['/tasks', '/logs', '/pages'].flatMap((mount) => routesOf(mount, id)),
    ['POST', `/tasks/${id}/done`, '/tasks', 'POST /:id/done'],
    ...ACCOUNTS,
  ]
  const ask = async ([method, path]: Asked, bearer: string): Promise<number> => {
    const body = /GET|HEAD|DELETE/.test(method) ? undefined : {}
    return (await app.call(method, path, body, bearer)).status
  }
  return { app, ask, routes, owners: [ann.token, bob.token, token] }
}

/** A random rule of `allow`. */
function ruleBy(pick: (below: number) => number): Rule {
  const mount = ['/tasks', '/logs', '/pages', '*'][pick(4)] as string
  const extra = mount === '/tasks' || mount === '*' ? ['POST /:id/done'] : []
  const actions = [...ACTIONS, ...extra].filter(() => pick(2) === 1)
  return { mount, actions: actions.length > 0 ? actions : ['list'] }
}

/** The status that a key must get where its owner gets `own`. */
function statusOf([, , mount, action = '']: Asked, allow: readonly Rule[], own: number): number {
  if (mount === undefined) return 401
  const isAllowed = allow.some(
    (rule) => (rule.mount === mount || rule.mount === '*') && rule.actions.includes(action),
  )
  return isAllowed ? own : 403
}

/** Makes `count` keys, asks for every route with each, and returns what was not as it must be. */
export async function keysThatWiden(count: number, seed: number): Promise<readonly string[]> {
  const { app, ask, routes, owners } = await guarded()
  const pick = numbers(seed)
  const wrong: string[] = []
  const alone = new Map<string, number>()
  for (const token of owners) {
    for (const route of routes) alone.set(`${token} ${route}`, await ask(route, token))
  }
  for (let made = 0; made < count; made += 1) {
    const token = owners[pick(owners.length)] as string
    const allow = Array.from({ length: 1 + pick(3) }, () => ruleBy(pick))
    const { key } = (await app.post('/auth/keys', { name: 'key', allow }, token)).body.data
    for (const route of routes) {
      const must = statusOf(route, allow, alone.get(`${token} ${route}`) as number)
      const status = await ask(route, key)
      if (status !== must) wrong.push(`${route} ${JSON.stringify(allow)}: ${status}, not ${must}`)
    }
  }
  return wrong
}
