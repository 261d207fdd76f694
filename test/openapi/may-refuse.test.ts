import { expect, it } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, HttpError } from '../../src/index.ts'
import { document } from '../../src/openapi/index.ts'
import { service } from '../records/service.ts'

const Limited = defineModel('DocumentLimited', { fields: { name: z.string() } })

const refusing = (): never => {
  throw new HttpError(402, 'This needs a paid plan.')
}

it('says that routes with a scope or fieldsFor may end with what these throw', async () => {
  const { app, send } = service()
  app.mount('/scoped', createRouter({ model: Limited, middlewares: [], scope: refusing }))
  app.mount('/chosen', createRouter({ model: Limited, middlewares: [], fieldsFor: refusing }))
  app.mount('/open', createRouter({ model: Limited, middlewares: [] }))
  const made = Object.entries(document(app, { title: 'Test', version: '1.0' }).paths)
  expect(made).toHaveLength(6)
  for (const [path, item] of made) {
    for (const [method, { responses }] of Object.entries(item)) {
      const { status } = await send(method.toUpperCase(), path.replace('{id}', 'f'.repeat(24)), {
        ...(method !== 'get' && { json: method === 'query' ? {} : { name: 'a' } }),
      })
      expect(status === 402, `${method} ${path}`).toBe(Object.hasOwn(responses, 'default'))
    }
  }
})

it('says that a restore may be refused for what a value may become', async () => {
  const Loan = defineModel('DocumentLoan', {
    fields: { status: z.enum(['asked', 'lent']) },
    transitions: { status: { asked: ['lent'] } },
    changes: true,
  })
  const { app, send } = service()
  const access = { restore: [] }
  const options = { middlewares: [], allowedFields: ['status'], history: true, access } as const
  app.mount('/loans', createRouter({ model: Loan, ...options }))
  const { record } = await send('POST', '/loans', { json: { status: 'asked' } })
  const at = `/loans/${record._id}`
  await send('PATCH', at, { json: { status: 'lent' } })
  const changeId = (await send('GET', `${at}/history`)).records.at(-1)?.id
  expect((await send('POST', `${at}/restore`, { json: { changeId } })).status).toBe(409)
  const { paths } = document(app, { title: 'Test', version: '1.0' })
  expect(JSON.stringify(paths['/loans/{id}/restore']?.post?.responses['409'])).toContain(
    "'status' cannot change from",
  )
})

it('says that a client may have the current page of a history', async () => {
  const Step = defineModel('DocumentStep', { fields: { name: z.string() }, changes: true })
  const { app, send } = service()
  const options = { middlewares: [], allowedFields: ['name'], history: true } as const
  app.mount('/steps', createRouter({ model: Step, ...options }))
  const { record } = await send('POST', '/steps', { json: { name: 'a' } })
  const headers = { 'If-None-Match': '*' }
  const { status } = await send('GET', `/steps/${record._id}/history`, { headers })
  const { paths } = document(app, { title: 'Test', version: '1.0' })
  expect(paths['/steps/{id}/history']?.get?.responses).toHaveProperty(`${status}.headers.ETag`)
})
