import { afterAll, expect, it } from 'vitest'
import { document } from '../../src/openapi/index.ts'
import { atlasApp, fullApp } from './apps.ts'

const apps = [atlasApp(), fullApp()]
afterAll(() => Promise.all(apps.map((app) => app.close())))

it('a parameter that may be repeated takes one value without a list around it too', () => {
  const schemas = apps
    .map((app) => document(app, { title: 'Test', version: '1.0' }))
    .flatMap(({ paths }) => Object.values(paths).flatMap(Object.values))
    .flatMap(({ parameters = [] }) => parameters)
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema = {} }) => ({ name, schema: schema as Record<string, unknown> }))
  const lists = schemas.flatMap(({ schema }) => {
    const [one, list] = (schema.anyOf ?? []) as { type?: string; items?: unknown }[]
    return list?.type === 'array' ? [[list.items, one]] : []
  })
  expect(schemas.filter(({ schema }) => schema.type === 'array')).toEqual([])
  expect(lists.length).toBeGreaterThan(10)
  for (const [item, one] of lists) expect(item).toEqual(one)
})
