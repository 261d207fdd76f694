import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { batch } from '../../src/batch/index.ts'
import { apiKey, cors, idempotency, rateLimit, readOnly } from '../../src/guards/index.ts'
import { health } from '../../src/health/index.ts'
import { createRouter, defineModel, type Guard, ref } from '../../src/index.ts'
import { document, type OpenApiDocument, type Operation } from '../../src/openapi/index.ts'
import { observedApp } from '../observing/observed.ts'
import { atlasApp, emptyApp, fullApp } from './apps.ts'

const INFO = { title: 'Test', version: '1.0' }
const apps = { atlas: atlasApp(), empty: emptyApp(), full: fullApp() }
afterAll(() => Promise.all(Object.values(apps).map((app) => app.close())))

const atlas = document(apps.atlas, INFO)
const full = document(apps.full, INFO)

function operation({ paths }: OpenApiDocument, method: string, path: string): Operation {
  const found = paths[path]?.[method]
  if (!found) throw new Error(`no ${method} ${path}`)
  return found
}

function idsOf({ paths }: OpenApiDocument): string[] {
  return Object.values(paths).flatMap((item) => Object.values(item).map((one) => one.operationId))
}

const namesIn = (found: Operation, where: string) =>
  (found.parameters ?? []).filter((one) => one.in === where).map(({ name }) => name)

const body = (found: Operation, type = 'application/json') =>
  found.requestBody?.content[type]?.schema

/** The schema of the JSON that an operation responds with. */
function contentOf(found: Operation | undefined, status: string): unknown {
  const response = found?.responses[status]
  return response && 'content' in response && response.content?.['application/json']?.schema
}

/** The schema that a reference names. */
function resolved({ components }: OpenApiDocument, schema: unknown): Record<string, unknown> {
  const { $ref } = (schema ?? {}) as { $ref?: string }
  return $ref
    ? { ...components.schemas[$ref.replace('#/components/schemas/', '')] }
    : { ...(schema as object) }
}

const propertiesOf = (of: OpenApiDocument, schema: unknown) =>
  Object.keys((resolved(of, schema).properties ?? {}) as object)

describe('the operations', () => {
  it('have the names of the models and of the auth routes', () => {
    expect(idsOf(atlas)).toEqual(
      expect.arrayContaining([
        ...['listCities', 'queryCities', 'createCity', 'readCity', 'updateCity', 'deleteCity'],
        ...['register', 'login', 'refresh', 'me', 'listUsers', 'updateUser'],
      ]),
    )
  })

  it('of readers who see different fields show views, in which only the id is sure', () => {
    const Reader = defineModel('DocumentReader', {
      fields: { name: z.string(), boss: ref('DocumentReader').optional() },
    })
    const app = emptyApp()
    onTestFinished(() => app.close())
    const fieldsFor = () => ['name'] as const
    app.mount('/readers', createRouter({ model: Reader, middlewares: [], fieldsFor }))
    const made = document(app, INFO)
    const view = made.components.schemas.DocumentReaderView
    expect(view).toMatchObject({ required: ['_id'], properties: { boss: { type: 'string' } } })
    expect(Object.keys(made.components.schemas)).not.toContain('DocumentReader')
    const shown = (method: string, path: string, status: string) =>
      JSON.stringify(operation(made, method, path).responses[status])
    expect(shown('post', '/readers', '201')).toContain('DocumentReaderViewResponse')
    expect(shown('patch', '/readers/{id}', '200')).toContain('DocumentReaderViewResponse')
    expect(shown('get', '/readers', '200')).toContain('DocumentReaderViewList')
  })

  it('with hooks that judge the record may end with a 409, and with what the hooks throw', () => {
    const Judged = defineModel('DocumentJudged', { fields: { name: z.string() } })
    const app = emptyApp()
    onTestFinished(() => app.close())
    const hooks = { beforeUpdate: () => {}, beforeRemove: () => {} }
    app.mount('/judged', createRouter({ model: Judged, middlewares: [], ...hooks }))
    const made = document(app, INFO)
    for (const method of ['patch', 'delete']) {
      const { responses } = operation(made, method, '/judged/{id}')
      expect(JSON.stringify(responses['409'])).toContain('Another request changed the record')
      expect(responses).toHaveProperty('default')
    }
  })

  it('of a model on a second mount have the mount in their names', () => {
    expect(operation(atlas, 'get', '/feed/cities').operationId).toBe('listCitiesAtFeedCities')
    const ids = [...idsOf(atlas), ...idsOf(full)]
    expect(new Set(idsOf(atlas)).size + new Set(idsOf(full)).size).toBe(ids.length)
  })

  it('are those of the router that was mounted first, which serves them', () => {
    const app = emptyApp()
    onTestFinished(() => app.close())
    for (const name of ['DocumentFirst', 'DocumentSecond']) {
      const model = defineModel(name, { fields: { name: z.string() } })
      app.mount('/both', createRouter({ model, middlewares: [], enableQuery: false }))
    }
    const { paths, tags } = document(app.mount('/both', health()), INFO)
    expect(paths['/both']?.get?.operationId).toBe('listDocumentFirsts')
    expect(tags).toEqual([{ name: '/both', description: 'Records of DocumentFirsts' }])
  })

  it('are in 3.2 with QUERY and in 3.1 without', () => {
    const older = document(apps.atlas, INFO, '3.1')
    expect([atlas.openapi, older.openapi]).toEqual(['3.2.0', '3.1.1'])
    expect(Object.keys(atlas.paths['/cities'] ?? {})).toEqual(['get', 'query', 'post'])
    expect(Object.keys(older.paths['/cities'] ?? {})).toEqual(['get', 'post'])
  })

  it('are those that the routers serve', () => {
    expect(full.paths['/archive/books']).not.toHaveProperty('query')
    expect(full.paths).toHaveProperty('/accounts/sign-in')
    expect(full.paths).not.toHaveProperty('/accounts/login')
    expect(Object.keys(full.paths)).toContain('/tenants/{tenant}/shelves/{id}')
    expect(full.paths).not.toHaveProperty('/docs')
    expect(Object.keys(full.paths['/drafts'] ?? {})).toEqual(['get', 'post'])
    expect(Object.keys(full.paths['/drafts/{id}'] ?? {})).toEqual(['get', 'patch'])
    expect(document(apps.empty, INFO).paths).toEqual({})
  })
})

describe('access and scopes', () => {
  it('guards of one route are those of its operation alone', () => {
    const securityOf = (method: string, path: string) => operation(full, method, path).security
    expect(securityOf('get', '/drafts')).toEqual([])
    expect(securityOf('get', '/drafts/{id}')).toEqual([])
    expect(securityOf('post', '/drafts')).toEqual([{ bearer: [] }])
    expect(operation(full, 'post', '/drafts').responses).toHaveProperty('401')
    expect(operation(full, 'get', '/drafts').responses).not.toHaveProperty('401')
    expect(operation(full, 'patch', '/drafts/{id}').description).toContain(
      'Only for: guarded, signed in, a paid plan.',
    )
  })

  it('a write may show the id alone where reads have another scope', () => {
    for (const [method, path, status] of [
      ['post', '/drafts', '201'],
      ['patch', '/drafts/{id}', '200'],
    ] as const) {
      const found = operation(full, method, path)
      const { properties } = resolved(full, contentOf(found, status)) as {
        properties: Record<string, unknown>
      }
      expect(properties.data).toEqual({
        anyOf: [
          { $ref: '#/components/schemas/Draft' },
          expect.objectContaining({ required: ['_id'], additionalProperties: false }),
        ],
      })
      expect(JSON.stringify(found.responses['403'])).toContain('outside of what you may write')
    }
    const [read, update] = ['get', 'patch'].map((method) => operation(full, method, '/books/{id}'))
    expect(contentOf(read, '200')).toEqual(contentOf(update, '200'))
  })
})

describe('a list', () => {
  it('has the parameters of its router and no others', () => {
    const found = operation(atlas, 'get', '/countries')
    expect(namesIn(found, 'query')).toEqual([
      ...['code', 'region', 'subregion', 'languages', 'currencies'],
      ...['rangeField', 'range', 'compareField', 'compareOperator', 'compareValue'],
      ...['s', 'search', 'sort', 'page', 'pageSize', 'select'],
    ])
    const sort = found.parameters?.find(({ name }) => name === 'sort')
    expect(sort?.schema.enum).toEqual(['name', '-name', 'area', '-area'])
    const shelves = operation(full, 'get', '/tenants/{tenant}/shelves')
    expect(namesIn(shelves, 'query')).toEqual(['page', 'pageSize', 'select'])
    expect(namesIn(shelves, 'path')).toEqual(['tenant'])
  })

  it('has the pages of its router', () => {
    const listOf = (path: string) => {
      const response = operation(atlas, 'get', path).responses[200] as { content: object }
      const schema = Object.values(response.content)[0].schema
      return resolved(atlas, schema)
    }
    expect(listOf('/cities')).toMatchObject({
      properties: { pagination: { $ref: '#/components/schemas/CountedPagination' } },
      required: ['success', 'data'],
    })
    expect(listOf('/feed/cities')).toMatchObject({
      properties: { pagination: { $ref: '#/components/schemas/CursorPagination' } },
      required: ['success', 'data', 'pagination'],
    })
    expect(namesIn(operation(atlas, 'get', '/feed/cities'), 'query')).toContain('cursor')
    expect(namesIn(operation(atlas, 'get', '/feed/cities'), 'query')).not.toContain('page')
  })

  it('by QUERY has the conditions of each filterable field', () => {
    const query = resolved(atlas, body(operation(atlas, 'query', '/cities')))
    expect(propertiesOf(atlas, query)).toEqual([
      'filter',
      'search',
      'sort',
      'page',
      'pageSize',
      'limit',
      'select',
      'expand',
      'aggregate',
    ])
    const { filter } = query.properties as Record<string, { properties: object }>
    expect(Object.keys(filter?.properties ?? {})).toEqual([
      ...['or', 'country', 'capital', 'population', 'latitude', 'longitude', 'createdAt'],
    ])
  })
})

describe('the bodies', () => {
  it('have what may be written', () => {
    const create = body(operation(full, 'post', '/archive/books'))
    expect(propertiesOf(full, create)).toEqual(['title', 'genre'])
    expect(resolved(full, create).required).toEqual(['title', 'genre'])
    const update = resolved(full, body(operation(full, 'patch', '/archive/books/{id}')))
    expect(update).toMatchObject({ minProperties: 1 })
    expect(update).not.toHaveProperty('required')
  })

  it('let null clear what is optional', () => {
    const { properties } = resolved(full, body(operation(full, 'patch', '/books/{id}')))
    expect(properties).toMatchObject({
      title: { type: 'string' },
      pages: { type: 'integer' },
      price: { type: ['number', 'null'] },
      shelf: { anyOf: [{ type: 'string', format: 'uuid' }, { type: 'null' }] },
    })
  })

  it('are forms where files are taken', () => {
    const form = resolved(full, body(operation(full, 'post', '/books'), 'multipart/form-data'))
    expect(form.properties).toMatchObject({
      title: { type: 'string' },
      imgOptimizations: { type: 'string', enum: expect.arrayContaining(['low']) },
      cover: { type: 'string', format: 'binary' },
      scans: { type: 'array', items: { type: 'string', format: 'binary' }, maxItems: 3 },
    })
    const { content } = operation(full, 'post', '/books').requestBody ?? {}
    const { encoding } = content?.['multipart/form-data'] ?? {}
    const images = expect.stringContaining('image/jpeg, image/png, ')
    expect(encoding).toHaveProperty('scans.contentType', images)
    expect(propertiesOf(full, body(operation(full, 'post', '/books')))).not.toContain('cover')
  })
})

describe('what is hidden', () => {
  it('appears nowhere, and neither do secrets', () => {
    const text = JSON.stringify(full)
    const names = 'costPrice taxNumber secretNote otpHash refreshTokens knownClients'
    for (const name of names.split(' ')) {
      expect(text).not.toContain(name)
    }
    expect(propertiesOf(full, { $ref: '#/components/schemas/Person' })).not.toContain('password')
  })
})

describe('the responses', () => {
  it('have the messages and headers of the errors that are thrown', () => {
    const { responses } = operation(atlas, 'patch', '/cities/{id}')
    expect(Object.keys(responses).join(' ')).toBe('200 400 404 408 412 413 415 431 500 503')
    expect(responses[404]).toMatchObject({ description: '- `Entry not found.`' })
    expect(operation(atlas, 'post', '/cities').responses[201]).toMatchObject({
      headers: { Location: { $ref: '#/components/headers/Location' } },
    })
    expect(operation(atlas, 'get', '/cities').responses[304]).toMatchObject({
      headers: { ETag: {} },
    })
    expect(operation(atlas, 'get', '/auth/me').responses[401]).toMatchObject({
      headers: { 'WWW-Authenticate': {} },
    })
    expect(full.components.responses?.Unavailable).toMatchObject({ headers: { 'Retry-After': {} } })
  })

  it('of a DELETE that a reference forbids have the 409', () => {
    const { responses } = operation(full, 'delete', '/tenants/{tenant}/shelves/{id}')
    expect(responses[409]).toMatchObject({
      description: expect.stringContaining('Entry is still referenced by Book.'),
    })
  })
})

describe('the guards', () => {
  it('decide who may call an operation', () => {
    expect(operation(atlas, 'get', '/cities').security).toEqual([])
    expect(operation(atlas, 'get', '/favourites').security).toEqual([{ bearer: [] }])
    expect(operation(full, 'get', '/archive/books').security).toEqual([{}, { bearer: [] }])
    expect(operation(full, 'get', '/healthz').responses).not.toHaveProperty('401')
    expect(atlas.components.securitySchemes).toEqual({
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    })
  })

  it('are told in words', () => {
    const { description } = operation(full, 'get', '/books/{id}')
    expect(description).toBe('Only for: guarded, signed in, role editor, a paid plan.')
  })

  it('of your own may respond with anything', () => {
    expect(operation(full, 'get', '/books').responses).toHaveProperty('default')
    expect(operation(atlas, 'get', '/cities').responses).not.toHaveProperty('default')
  })
})

describe('the guards of fieldgate/guards', () => {
  const Post = defineModel('GuardedPost', { fields: { text: z.string() } })
  const { app } = observedApp()
  app.use(cors({ origins: '*' })).use(rateLimit({ limit: 10, windowSeconds: 1 }))
  const keys = ['k3y-for-the-tests-of-the-document']
  const at = (path: string, ...middlewares: Guard[]) =>
    app.mount(path, createRouter({ model: Post, allowedFields: ['text'], middlewares }))
  at('/read', readOnly())
  at('/keyed', apiKey({ keys, header: 'X-Key' }), idempotency({ ttlSeconds: 60 }))
  const made = document(app, INFO)

  it('describe themselves', () => {
    const { security, responses, description } = operation(made, 'post', '/keyed')
    expect(security).toEqual([{ 'X-Key': [] }])
    expect(made.components.securitySchemes).toEqual({
      'X-Key': { type: 'apiKey', in: 'header', name: 'X-Key' },
    })
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '409', '422', '429']))
    expect(responses).not.toHaveProperty('default')
    expect(description).toBe('Only for: holders of an API key.')
  })

  it('leave out what they let nobody do', () => {
    expect(Object.keys(made.paths['/read'] ?? {})).toEqual(['get', 'query'])
    expect(Object.keys(made.paths['/read/{id}'] ?? {})).toEqual(['get'])
  })
})

describe('a described extra route', () => {
  const Book = defineModel('TopBook', { fields: { title: z.string() } })
  function serving(value: unknown) {
    const { app, ask, said } = observedApp()
    const router = createRouter({ model: Book, allowedFields: ['title'], middlewares: [] })
    const query = z.object({
      limit: z.number().max(50).default(10),
      tag: z.array(z.string()).optional(),
    })
    router.get('/top', (request) => Response.json({ got: value ?? request.query }), {
      summary: 'The first ones',
      query,
      response: z.object({ got: z.object({ limit: z.number() }) }),
    })
    app.mount('/books', router)
    return { app, ask, said }
  }

  it('gets its parameters parsed', async () => {
    const { ask } = serving(undefined)
    const read = async (path: string) => (await ask(path)).json()
    expect(await read('/books/top')).toEqual({ got: { limit: 10 } })
    expect(await read('/books/top?limit=20&tag=a')).toEqual({ got: { limit: 20, tag: ['a'] } })
  })

  it('refuses others with a 400', async () => {
    const response = await serving(undefined).ask('/books/top?limit=99')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      success: false,
      error: 'Check the submitted values.',
      fields: { limit: expect.any(String) },
    })
  })

  it('whose response does not fit is a 500, and the log says why', async () => {
    const { ask, said } = serving({ limit: 'many' })
    expect((await ask('/books/top')).status).toBe(500)
    expect(JSON.stringify(said('request failed'))).toContain('got.limit')
  })

  it('is in the document', () => {
    const { app } = serving(undefined)
    const found = operation(document(app, INFO), 'get', '/books/top')
    expect(found).toMatchObject({ operationId: 'getBooksTop', summary: 'The first ones' })
    expect(found.parameters).toEqual([
      { name: 'limit', in: 'query', schema: { type: 'number', maximum: 50, default: 10 } },
      {
        name: 'tag',
        in: 'query',
        schema: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      },
    ])
    expect(found.responses).toHaveProperty('2XX')
  })
})

describe('a batch', () => {
  it('says what it takes and returns', () => {
    const { app } = observedApp()
    const found = document(app.mount('/batch', batch({ max: 7 })), INFO)
    const batched = operation(found, 'post', '/batch')
    expect(batched).toMatchObject({
      operationId: 'postBatch',
      summary: 'Several writes as one: all or nothing',
      responses: { '2XX': expect.anything() },
    })
    const methods = { enum: ['POST', 'PATCH', 'DELETE'] }
    expect(batched.responses['2XX']).toHaveProperty('headers.Change-Id')
    expect(resolved(found, body(batched)).properties).toMatchObject({
      operations: { type: 'array', maxItems: 7, items: { properties: { method: methods } } },
    })
  })
})

describe('openapi()', () => {
  const ask = (path: string, headers = {}) =>
    apps.full.handle(new Request(`http://localhost${path}`, { headers }))

  it('serves the document, in both versions', async () => {
    const response = await ask('/docs/openapi.json')
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await response.json()).toEqual(document(apps.full, { title: 'Library', version: '2.1' }))
    const older = await (await ask('/docs/openapi.json?version=3.1')).json()
    expect(older.openapi).toBe('3.1.1')
    expect((await ask('/docs/openapi.json?version=2.0')).status).toBe(400)
  })

  it('tells clients that have it', async () => {
    const etag = (await ask('/docs/openapi.json')).headers.get('etag') ?? ''
    expect((await ask('/docs/openapi.json', { 'If-None-Match': etag })).status).toBe(304)
  })

  it('names the option that makes no sense', () => {
    expect(() => document(apps.empty, { title: '', version: '1' })).toThrow("openapi: 'title'")
    expect(() => document(apps.empty, INFO, '2.0' as never)).toThrow(
      "openapi: the version is '3.2'",
    )
    for (const wrong of [{ servers: '/' }, { servers: [5] }, { description: 5 }, { server: '/' }]) {
      expect(() => document(apps.empty, { ...INFO, ...wrong } as never)).toThrow(/^openapi: /)
    }
  })
})
