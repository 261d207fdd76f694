/** The document says how sign-ins and their second steps are refused, as the app does. */

import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import {
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
} from '../../src/index.ts'
import { apiKeys } from '../../src/methods/api-keys/index.ts'
import { emailCode } from '../../src/methods/email-code/index.ts'
import { totp } from '../../src/methods/totp/index.ts'
import { document, type OpenApiDocument } from '../../src/openapi/index.ts'
import { password } from '../auth/accounts.ts'
import { credentials, email, factored } from '../auth/methods/factored.ts'
import { type Service, type ServiceOptions, service } from '../auth/service.ts'

const INFO = { title: 'Test', version: '1.0' }

function responseOf({ paths }: OpenApiDocument, method: string, path: string, status: number) {
  const found = paths[path]?.[method]?.responses[status] as
    | { description: string; content?: { 'application/json': { schema: Fields } } }
    | undefined
  return { text: found?.description ?? '', schema: found?.content?.['application/json'].schema }
}

/** An app whose admins need a second factor, with records that keys may list. */
async function keyed(auth: ServiceOptions['auth'] = {}) {
  const secondFactor = { requiredFor: ['admin'] }
  const methods = [totp({ issuer: 'Atlas' }), apiKeys(), emailCode({ signUp: true })]
  const app = await factored({ auth: { methods, secondFactor, ...auth } })
  const Thing = defineModel('Thing', { fields: { text: z.string() } })
  app.app.mount('/things', createRouter({ model: Thing, middlewares: [app.auth.requireAuth] }))
  return { ...app, paper: document(app.app, INFO) }
}

/** What the app answers, and what the document says of it. */
async function answered(
  app: Service & { paper: OpenApiDocument },
  [method, path]: readonly [string, string],
  sent: Fields | undefined,
  token?: string,
) {
  const { status, body } = await app.call(method, path, sent, token)
  const { text } = responseOf(app.paper, method.toLowerCase(), path, status)
  expect(text, `${method} ${path} ${status}`).toContain(`\`${body.error}\``)
  return { status, body }
}

describe('The document', () => {
  it('has the second step of every way to sign in, with its ticket', async () => {
    const app = await keyed()
    await app.enrol()
    const { body } = await answered(app, ['POST', '/auth/login'], credentials)
    const { token } = app.ann
    const sent = { password }
    const confirmed = await answered(app, ['POST', '/auth/login/confirm'], sent, token)
    for (const path of ['/auth/login', '/auth/login/confirm']) {
      expect(responseOf(app.paper, 'post', path, 401).schema).toEqual({
        anyOf: [
          { $ref: '#/components/schemas/SecondStep' },
          { $ref: '#/components/schemas/Failure' },
        ],
      })
    }
    const { properties, required } = app.paper.components.schemas.SecondStep as {
      properties: Fields
      required: string[]
    }
    for (const told of [body, confirmed.body]) {
      expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(told)))
      expect(Object.keys(told)).toEqual(expect.arrayContaining(required))
    }
    const other = document((await service()).app, INFO)
    expect(responseOf(other, 'post', '/auth/login', 401).text).not.toContain('second step')
    expect(other.components.schemas).not.toHaveProperty('SecondStep')
  })

  it('says that a login may end the sign-in that a provider began', async () => {
    const house = { verify: () => ({ id: 'ann' }) }
    const options = { unique: ['email', 'phone', 'houseId'] }
    const dataOf = ({ app }: Service) => {
      const { paths, components } = document(app, INFO)
      const { schema } = responseOf({ paths } as OpenApiDocument, 'post', '/auth/login', 200)
      const { data } = (schema as { properties: { data: Fields } }).properties
      return [data, components.schemas.ProviderSignIn !== undefined]
    }
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
    const social = { house }
    const methods = [totp({ issuer: 'Atlas' })]
    const both = await service({ ...options, auth: { social, methods } })
    expect(dataOf(both)).toEqual([{ anyOf: [ref('SignIn'), ref('ProviderSignIn')] }, true])
    const alone = await service({ ...options, auth: { social } })
    expect(dataOf(alone)).toEqual([ref('SignIn'), true])
  })

  it('has what a role that needs a factor and a key are refused with', async () => {
    const app = await keyed()
    const { key } = (await app.makeKey(app.ann.token)).body.data
    const refused = await answered(app, ['POST', '/things'], { text: 'x' }, key)
    expect(refused.status).toBe(403)
    const { token } = await app.admin()
    const list = ['GET', '/things'] as const
    expect((await answered(app, list, undefined, token)).body.error).toBe('Set up a second factor.')
    await app.enrol(token)
    const asked = await answered(app, ['GET', '/auth/me'], undefined, token)
    expect(asked.body.error).toBe('Sign in with a second factor.')
    // Neither is said of apps that have neither.
    const other = document((await service()).app, INFO)
    expect(responseOf(other, 'get', '/auth/me', 403).text).not.toMatch(/second factor|no access/)
  })

  it.each([true, false])(
    'has what a confirmation takes and gives, sessions: %s',
    async (enabled) => {
      const app = await keyed({ refresh: { enabled } })
      const confirm = ['POST', '/auth/login/confirm'] as const
      const { token } = app.ann
      await answered(app, confirm, {}, token)
      await answered(app, confirm, { password: 'x'.repeat(2000) }, token)
      await answered(app, confirm, { password: 'wrong' }, token)
      const { status, body } = await app.post(confirm[1], { password }, token)
      expect(status).toBe(200)
      const schema = responseOf(app.paper, 'post', confirm[1], 200).schema as {
        properties?: { data: { properties: Fields } }
        $ref?: string
      }
      if (enabled) expect(schema.$ref).toBe('#/components/schemas/Message')
      else
        expect(Object.keys(schema.properties?.data.properties ?? {})).toEqual(
          Object.keys(body.data),
        )
      const requiredIn = (path: string) => {
        const operation = app.paper.paths[path]?.post
        const content = operation?.requestBody?.content['application/json']?.schema
        const bodies = (content?.anyOf ?? []) as { required: string[] }[]
        return bodies.map(({ required }) => required)
      }
      expect(requiredIn(confirm[1])).toEqual([['password'], ['otp'], ['ticket']])
      expect(requiredIn('/auth/login')).toEqual([
        ['identifier', 'password'],
        ['identifier', 'otp'],
        ['ticket'],
      ])
      expect(responseOf(app.paper, 'post', '/auth/login', 400).text).toContain(
        'Check the submitted',
      )
      await app.post('/auth/login/code', { identifier: email })
      const otp = app.sent.at(-1)?.code
      expect((await app.post(confirm[1], { otp }, token)).status).not.toBe(400)
    },
  )

  it('has the fields of newcomers at a sign-in that makes accounts', async () => {
    const documentOf = async (signUp: boolean) => {
      const methods = [emailCode({ signUp })]
      const registerFields = ['name']
      const { app } = await factored({ auth: { registerFields, methods } })
      return document(app, INFO)
    }
    const { components } = await documentOf(true)
    expect(components.schemas.Newcomer).toEqual({
      type: 'object',
      properties: { name: expect.anything() },
    })
    expect(JSON.stringify(await documentOf(true))).toContain(
      '"allOf":[{"$ref":"#/components/schemas/Newcomer"}]',
    )
    expect((await documentOf(false)).components.schemas).not.toHaveProperty('Newcomer')
  })

  it('says how long an identifier may be, wherever there is one', async () => {
    const { paper } = await keyed()
    const text = JSON.stringify(paper)
    const all = text.match(/"identifier":\{[^}]*\}/g) ?? []
    expect(all.length).toBeGreaterThan(5)
    expect(all.filter((one) => !one.includes('"maxLength":1024'))).toEqual([])
  })
})

it('The document asks for an identifier, a role, and a rule of a key', () => {
  const app = createApp({ store: sqliteStore() })
  onTestFinished(() => app.close())
  const secret = 'x'.repeat(32)
  const identifiers = ['email', 'phone']
  const auth = createAuthRouter({ token: { secret }, identifiers, methods: [apiKeys()] })
  const { paths, components } = document(app.mount('/auth', auth.router), INFO)
  const ajv = new Ajv2020({ strict: false, logger: false })
  ajv.addSchema({ $id: 'document', components })
  const takes = (method: string, path: string, value: object) => {
    const { schema = {} } = paths[path]?.[method]?.requestBody?.content['application/json'] ?? {}
    const { $ref } = schema as { $ref?: string }
    return ($ref ? ajv.getSchema(`document${$ref}`) : ajv.compile(schema))?.(value)
  }
  const [list, none] = ['list', ''].map((action) => ({
    mount: '*',
    actions: action ? [action] : [],
  }))
  expect([
    takes('post', '/auth/register', { password }),
    takes('patch', '/auth/users/{id}/roles', {}),
    takes('post', '/auth/keys', { name: 'CI', allow: [] }),
    takes('post', '/auth/keys', { name: 'CI', allow: [none] }),
  ]).toEqual([false, false, false, false])
  expect([
    takes('post', '/auth/register', { password, phone: '+4912345678' }),
    takes('patch', '/auth/users/{id}/roles', { roles: ['admin'] }),
    takes('post', '/auth/keys', { name: 'CI', allow: [list] }),
  ]).toEqual([true, true, true])
})
