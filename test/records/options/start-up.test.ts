import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  type App,
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
  type Model,
  type RouterOptions,
  ref,
  userFields,
} from '../../../src/index.ts'
import { service } from '../service.ts'

const Owner = defineModel('StartUpOwner', {
  fields: { name: z.string(), age: z.number(), password: z.string() },
  hidden: ['password'],
})
const Thing = defineModel('StartUpThing', {
  fields: {
    name: z.string(),
    size: z.number().optional(),
    tags: z.array(z.string()).optional(),
    owner: ref('StartUpOwner').optional(),
    address: z.object({ city: z.string(), code: z.string() }).optional(),
    secret: z.string().optional(),
  },
  hidden: ['secret', 'address.code'],
})

/** Options as a JavaScript user may write them. */
function mount(options: Record<string, unknown>) {
  const { app, log } = service()
  app.store.collection(Owner)
  app.mount(
    '/things',
    createRouter({ model: Thing, ...options } as unknown as RouterOptions<Fields>),
  )
  return { app, log }
}

const LISTS = ['query', 'filterableFields', 'sortableFields', 'search', 'orderBy'] as const

describe('answers, GET list: options that make no sense are start-up errors', () => {
  test('2.6 unknown option: the error names the router and the option', () => {
    expect(() => mount({ qurey: ['name'] })).toThrow(
      new TypeError("Router '/things': unknown option 'qurey'. Did you mean 'query'?"),
    )
    expect(() => mount({ constructor: 1 })).toThrow(
      /^Router '\/things': unknown option 'constructor'\. There are: model, orderBy, query, /,
    )
  })

  test.each([...LISTS, 'allowedFields', 'blockedFields'])(
    '2.6 unknown field: the error names the router, the option %s and the field',
    (option) => {
      expect(() => mount({ [option]: ['nmae'] })).toThrow(
        new TypeError(
          `Router '/things': '${option}' lists 'nmae', but StartUpThing has no such field. Did you mean 'name'?`,
        ),
      )
    },
  )

  test.each(['allowedFields', 'blockedFields'])(
    '2.6 unknown field: %s.create and .update are looked into',
    (option) => {
      for (const operation of ['create', 'update']) {
        expect(() => mount({ [option]: { [operation]: ['nmae'] } })).toThrow(
          `Router '/things': '${option}' lists 'nmae', but StartUpThing has no such field. Did you mean 'name'?`,
        )
      }
    },
  )

  test.each([
    '__proto__',
    'constructor',
    'toString',
    'Name',
    'name ',
    '',
    'name.first',
    'tags.0',
    '$where',
  ])("2.6 unknown field: '%s' is none", (field) => {
    for (const option of [
      'query',
      'filterableFields',
      'sortableFields',
      'orderBy',
      'allowedFields',
    ]) {
      expect(() => mount({ [option]: [field] }), option).toThrow(`'${option}' lists '${field}'`)
    }
  })

  test.each(LISTS)(
    '2.6 hidden field: %s may not name it, nor what lies inside or around it',
    (option) => {
      for (const field of ['secret', 'address.code']) {
        expect(() => mount({ [option]: [field] })).toThrow(
          new TypeError(`Router '/things': '${option}' names '${field}', which is hidden`),
        )
      }
      expect(() => mount({ [option]: ['address'] })).toThrow(
        `'${option}' names 'address', which is hidden`,
      )
    },
  )

  test('2.6 hidden field: a descending orderBy is looked through', () => {
    expect(() => mount({ orderBy: '-secret' })).toThrow("'orderBy' names 'secret', which is hidden")
    expect(() => mount({ orderBy: ['name', '-nmae'] })).toThrow(
      "'orderBy' lists 'nmae', but StartUpThing has no such field. Did you mean 'name'?",
    )
  })

  test('2.6 hidden field: only allowedFields and blockedFields may name it', () => {
    expect(() =>
      mount({ allowedFields: ['name', 'secret'], blockedFields: ['secret'] }),
    ).not.toThrow()
  })

  test.each([
    ['owner.password', "'search' names 'owner.password', which is hidden"],
    [
      'owner.nmae',
      "'search' lists 'owner.nmae', but StartUpOwner has no such field. Did you mean 'owner.name'?",
    ],
    ['owner.age', "'search' names 'owner.age', which is not a string"],
  ])('2.6 search: %s is refused through the reference too', async (field, message) => {
    const { app } = mount({ search: [field] })
    await expect(app.ready()).rejects.toThrow(new TypeError(`Router '/things': ${message}`))
  })

  test('2.6 search: a field must be text, or a list of texts', () => {
    expect(() => mount({ search: ['size'] })).toThrow(
      "Router '/things': 'search' names 'size', which is not a string",
    )
    expect(() => mount({ search: ['owner'] })).toThrow(
      "'search' names 'owner', which is not a string",
    )
    expect(() => mount({ search: ['name', 'tags'] })).not.toThrow()
  })

  test('4.1 list rule 5, start-up: a dotted field whose first part is no reference is dropped with a warning', () => {
    const { log } = mount({ search: ['size.name'], allowedFields: ['name'] })
    expect(log.lines).toMatchObject([
      {
        level: 'warn',
        message:
          "Router '/things': 'search' ignores 'size.name', because 'size' is not a reference of 'StartUpThing'.",
      },
    ])
  })

  test('2.6 search: a reference to a model that nobody defined is an error', async () => {
    const Orphan = defineModel('StartUpOrphan', { fields: { owner: ref('NoSuchModel') } })
    const { app } = mount({ search: ['owner.name'], model: Orphan })
    await expect(app.ready()).rejects.toThrow(
      "Router '/things': 'search' names 'owner.name', but no model is named 'NoSuchModel'",
    )
  })

  test.each([
    'maxLimit',
    'defaultPageSize',
    'maxPage',
    'maxTimeMS',
    'maxSearchLength',
    'maxRelationMatches',
    'maxPopulated',
    'maxResponseBytes',
    'batchSize',
  ])('2.6 nonsense numbers · 8 Limits: %s must be a whole number of at least 1', (option) => {
    for (const value of [
      0,
      -1,
      1.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      2 ** 53,
      '10',
      '',
      true,
      null,
      [],
      {},
    ]) {
      expect(() => mount({ [option]: value }), String(value)).toThrow(
        new TypeError(`Router '/things': '${option}' must be a whole number of at least 1`),
      )
    }
    expect(() => mount({ [option]: 1 })).not.toThrow()
  })

  test.each([
    'strictAfterCreate',
    'allowRawRegex',
    'lean',
    'allowDiskUse',
    'enableQuery',
    'methodOverride',
    'legacyMode',
  ])('2.6 nonsense booleans: %s must be true or false', (option) => {
    for (const value of ['true', 1, 0, null, [], {}]) {
      expect(() => mount({ [option]: value }), String(value)).toThrow(
        new TypeError(`Router '/things': '${option}' must be true or false`),
      )
    }
  })

  test('2.6 pagination: an unknown mode is an error that lists the modes', () => {
    expect(() => mount({ pagination: 'pages' })).toThrow(
      new TypeError("Router '/things': 'pagination' must be one of offset, cursor"),
    )
    expect(() => mount({ countStrategy: 'guess' })).toThrow(
      new TypeError("Router '/things': 'countStrategy' must be one of exact, estimated, none"),
    )
  })

  test('2.6 defaultPageSize: above maxLimit it is an error', () => {
    expect(() => mount({ defaultPageSize: 101 })).toThrow(
      "Router '/things': 'defaultPageSize' (101) is above 'maxLimit' (100)",
    )
    expect(() => mount({ defaultPageSize: 11, maxLimit: 10 })).toThrow(
      "'defaultPageSize' (11) is above 'maxLimit' (10)",
    )
    expect(() => mount({ defaultPageSize: 10, maxLimit: 10 })).not.toThrow()
  })

  test.each([
    'query',
    'search',
    'filterableFields',
    'sortableFields',
    'allowedFields',
    'blockedFields',
    'orderBy',
    'middlewares',
  ])('2.6 types: %s refuses what is no list of the right things', (option) => {
    for (const value of [5, { creat: ['name'] }, [5], [null], null, true]) {
      expect(() => mount({ [option]: value }), JSON.stringify(value)).toThrow(
        `Router '/things': '${option}'`,
      )
    }
  })

  test.each([
    'query',
    'search',
    'filterableFields',
    'sortableFields',
    'allowedFields',
    'blockedFields',
    'middlewares',
  ])('2.6 types: %s refuses a bare name', (option) => {
    expect(() => mount({ [option]: 'name' })).toThrow(`Router '/things': '${option}'`)
  })

  test.each([
    'onGet',
    'runAfterCreate',
    'validate',
    'scope',
    'beforeUpdate',
    'afterUpdate',
    'beforeRemove',
    'afterRemove',
  ])('2.6 types: %s must be a function', (option) => {
    for (const value of [5, 'name', [], null, true, { create: 5 }]) {
      expect(() => mount({ [option]: value }), JSON.stringify(value)).toThrow(
        `Router '/things': '${option}'`,
      )
    }
  })

  test("2.6 validate: an object takes 'create' and 'update' only", () => {
    expect(() => mount({ validate: { create() {}, update() {} } })).not.toThrow()
    expect(() => mount({ validate: { remove() {} } })).toThrow(
      "Router '/things': 'validate' must be a function, or { create, update } of functions",
    )
  })

  test('2.6 model: it is needed, and must come from defineModel', () => {
    for (const model of [undefined, null, {}, 'Thing', { name: 'Thing' }]) {
      expect(() => mount({ model })).toThrow(
        new TypeError("Router '/things': 'model' must be a model made by defineModel"),
      )
    }
    const nothing = undefined as unknown as RouterOptions<Fields>
    expect(() => service().app.mount('/things', createRouter(nothing))).toThrow(
      "Router '/things': 'model'",
    )
  })

  test('2.6 types: an option that is undefined counts as not given', () => {
    const names = [
      'query',
      'maxLimit',
      'lean',
      'onGet',
      'pagination',
      'allowedFields',
      'validate',
      'scope',
      'orderBy',
    ]
    expect(() => mount(Object.fromEntries(names.map((name) => [name, undefined])))).not.toThrow()
  })

  test('2.6 sortableFields: what has no order is refused, and left out of the default', async () => {
    expect(() => mount({ sortableFields: ['tags'] })).toThrow(
      "'sortableFields' names 'tags', which has no order",
    )
    expect(() => mount({ orderBy: 'tags' })).toThrow("'orderBy' names 'tags', which has no order")
    expect(() => mount({ query: ['tags'] })).not.toThrow()
  })

  test('answers, GET list: warnings of a router go to the logger of the app that mounts it', () => {
    const router = createRouter({ model: Thing as unknown as Model<Fields> })
    const first = service()
    const second = service()
    first.app.mount('/things', router)
    expect(first.log.lines).toHaveLength(1)
    expect(second.log.lines).toHaveLength(0)
  })
})

describe('answers, Writes: start-up warning when neither list is given', () => {
  const warning = {
    level: 'warn',
    message:
      "Router '/things': every field of 'StartUpThing' is writable. Name the writable ones in 'allowedFields'.",
  }

  test('2.6 allowedFields: without it and blockedFields there is one warning', () => {
    expect(mount({}).log.lines).toMatchObject([warning])
  })

  test.each([
    { allowedFields: [] },
    { allowedFields: { create: ['name'] } },
    { blockedFields: ['name'] },
    { access: { create: false, update: false } },
  ])('2.6 allowedFields: %o warns of nothing', (options) => {
    expect(mount(options).log.lines).toEqual([])
  })

  test('start-up tells once where anybody may write', async () => {
    const told = async (prepare: (app: App) => unknown) => {
      const lines: string[] = []
      const { log } = service()
      const app = createApp({
        store: sqliteStore(),
        logger: { ...log, warn: (message) => void lines.push(message) },
      })
      onTestFinished(() => app.close())
      prepare(app)
      await app.ready()
      await app.ready()
      return lines
    }
    const thing = (options: object = {}) =>
      createRouter({ model: Thing, allowedFields: ['name'], ...options })
    expect(await told((app) => app.mount('/a', thing()).mount('/b', thing()))).toEqual([
      "Anyone can create, change and delete records at /a, /b. Add guards in 'middlewares', or pass middlewares: [] if this is intended.",
    ])
    expect(await told((app) => app.mount('/a', thing({ middlewares: [] })))).toEqual([])
    expect(await told((app) => app.mount('/a', thing({ middlewares: [() => {}] })))).toEqual([])
    expect(await told((app) => app.mount('/a', thing({ scope: () => ({ name: 'a' }) })))).toEqual(
      [],
    )
    expect(await told((app) => app.mount('/a', thing()).use(() => {}))).toEqual([])
  })

  test('ids that the store does not make', () => {
    const Ticket = defineModel('StartUpTicket', { id: 'integer', fields: { name: z.string() } })
    const told = "'sqlite' makes no integers: write id: 'objectId' or 'uuid'"
    expect(() => mount({ model: Ticket })).toThrow(`Router '/things': ${told}`)
    expect(() => mount({ model: Ticket, access: { create: false } })).not.toThrow()
    expect(() => mount({ model: Ticket, scope: () => ({ _id: '7' }) })).not.toThrow()
    const fields = userFields()
    const Person = defineModel('StartUpPerson', { id: 'integer', fields, unique: ['email'] })
    const auth = createAuthRouter({ model: Person, token: { secret: 'x'.repeat(32) } })
    expect(() => service().app.mount('/auth', auth.router)).toThrow(`Auth: ${told}`)
  })

  test('answers, Legacy · 9 Versioning: legacyMode warns loudly', () => {
    const { log } = mount({ legacyMode: true, allowedFields: ['name'] })
    expect(log.lines).toMatchObject([
      { level: 'warn', message: expect.stringContaining("'legacyMode'") },
    ])
  })
})
