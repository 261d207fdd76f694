/** An enforced reference holds whoever asks; a `validate` that asks for the caller's own records keeps others' from being told of. */

import { expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  createApp,
  createRouter,
  defineModel,
  type Guard,
  ref,
  ValidationError,
} from '../../../src/index.ts'

const Project = defineModel('OthersProject', {
  id: 'uuid',
  fields: { name: z.string(), owner: z.string() },
})
const Task = defineModel('OthersTask', {
  fields: { project: ref('OthersProject', { onDelete: 'restrict' }), owner: z.string() },
})
const who: Guard = (request) => {
  request.auth = { userId: request.headers.get('x-user') ?? '', claims: {} }
}

function serve() {
  const app = createApp({ store: sqliteStore() })
  const scope = (request: Parameters<Guard>[0]) => ({ owner: request.auth?.userId ?? '' })
  const options = { middlewares: [who], scope }
  const tasks = { ...options, model: Task, allowedFields: ['project'] } as const
  app.mount('/projects', createRouter({ ...options, model: Project, allowedFields: ['name'] }))
  app.mount('/open', createRouter(tasks))
  app.mount(
    '/own',
    createRouter({
      ...tasks,
      async validate({ project }, { req }, context) {
        if (project === undefined) return
        const own = { _id: String(project), owner: String(req.auth?.userId) }
        if (await context.store.collection(Project).findOne(own)) return
        throw new ValidationError('Invalid value for project.', { project: 'Does not exist.' })
      },
    }),
  )
  return async (user: string, method: string, path: string, json?: object) => {
    const headers = { 'x-user': user, 'content-type': 'application/json', 'x-request-id': 'r' }
    const body = json === undefined ? undefined : JSON.stringify(json)
    const response = await app.handle(
      new Request(`http://localhost${path}`, { method, headers, ...(body && { body }) }),
    )
    return { status: response.status, ...JSON.parse(await response.text()) }
  }
}

it('tells a stranger nothing, and lets them keep nothing, as the manual says', async () => {
  const send = serve()
  const made = async () => (await send('ann', 'POST', '/projects', { name: 'P' })).data._id
  const project: string = await made()
  const absent = crypto.randomUUID()
  const [known, unknown] = [
    await send('bob', 'POST', '/own', { project }),
    await send('bob', 'POST', '/own', { project: absent }),
  ]
  expect(known.status).toBe(400)
  expect(known).toEqual(unknown)
  expect((await send('ann', 'POST', '/own', { project })).status).toBe(201)
  const other: string = await made()
  // Without it, the reference is checked against the records of all.
  expect((await send('bob', 'POST', '/open', { project: absent })).status).toBe(400)
  expect(await send('bob', 'POST', '/open', { project: absent })).toEqual(unknown)
  const task = await send('bob', 'POST', '/open', { project: other })
  expect(task.status).toBe(201)
  expect((await send('ann', 'DELETE', `/projects/${other}`)).status).toBe(409)
  const path = `/own/${task.data._id}`
  expect((await send('bob', 'PATCH', path, { project })).status).toBe(400)
  for (const wrong of ['', 'x', null, [project], { $ne: null }]) {
    expect((await send('bob', 'POST', '/own', { project: wrong })).status).toBe(400)
  }
})
