import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { type AppOptions, createApp, createRouter, defineModel } from '../../../src/index.ts'
import { service } from '../service.ts'

const create = (options: Record<string, unknown> | undefined) => (): unknown =>
  createApp(options as unknown as AppOptions)

describe('design, App: options of createApp that make no sense are start-up errors', () => {
  test('design, createApp: an unknown option is named', () => {
    expect(create({ store: sqliteStore(), maxBodysize: 5 })).toThrow(
      new TypeError("createApp: unknown option 'maxBodysize'. Did you mean 'maxBodySize'?"),
    )
  })

  test('design, createApp: the store is needed', () => {
    for (const options of [undefined, {}, { store: undefined }, { store: {} }]) {
      expect(create(options)).toThrow("createApp: 'store' is required")
    }
  })

  test.each([
    ['secret', ['', 'x'.repeat(31), 5, null], 'x'.repeat(32)],
    ['maxBodySize', [0, -1, 1.5, '1', Number.NaN, Number.POSITIVE_INFINITY], 1],
    ['maxBodyValues', [0, -1, 1.5, '1', Number.NaN, Number.POSITIVE_INFINITY], 1],
    ['bodyTimeoutMs', [0, -1, 1.5, '1', 2 ** 31, Number.POSITIVE_INFINITY], 2 ** 31 - 1],
    ['maxPopulated', [0, -1, 1.5, '1', Number.NaN, Number.POSITIVE_INFINITY], 1],
    ['maxResponseBytes', [0, -1, 1.5, '1', Number.NaN, Number.POSITIVE_INFINITY], 1],
    ['development', ['true', 1, null], true],
    ['now', [5, null, 'now'], Date.now],
    ['logger', [{}, null, 5, { info() {} }, { ...console, warn: 'loud' }], console],
    ['onError', [5, null, {}], () => new Response()],
  ])("design, createApp: '%s' is checked", (option, wrong, right) => {
    for (const value of wrong) {
      expect(create({ store: sqliteStore(), [option]: value }), String(value)).toThrow(
        `createApp: '${option}' must`,
      )
    }
    expect(create({ store: sqliteStore(), [option]: right })).not.toThrow()
  })

  test('design, App: app.use takes functions, app.mount takes paths', () => {
    const { app } = service()
    expect(() => app.use(undefined as never)).toThrow('app.use() takes a function')
    for (const path of ['cities', '', '/a b', '/%2e', '/a?b', 5, undefined]) {
      expect(() => app.mount(path as string, { attach: () => [] }), String(path)).toThrow(
        "the path must start with '/'",
      )
    }
  })

  test('design, App: a path that has a parameter twice is named', () => {
    const { app } = service()
    const Thing = defineModel('NestedThing', { fields: { name: z.string() } })
    const router = createRouter({ model: Thing, middlewares: [] })
    expect(() => app.mount('/teams/:id/things', router)).toThrow(
      new TypeError("the path '/teams/:id/things/:id' has a parameter twice. Rename one of them"),
    )
    expect(() => app.mount('/teams/:team/things', router)).not.toThrow()
  })
})
