import { test } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../adapters/caches/memory.ts'
import { sqliteStore } from '../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel, ref } from '../src/index.ts'
test('x', async () => {
  const Region = defineModel('RegionT', { fields: { name: z.string() } })
  const Country = defineModel('CountryT', { fields: { name: z.string(), code: z.string(), secret: z.string().optional(), region: ref('RegionT').optional() }, hidden: ['secret'] })
  const City = defineModel('CityT', { fields: { name: z.string(), population: z.number(), founded: z.date().optional(), tags: z.array(z.string()).optional(), country: ref('CountryT').optional(), pin: z.string().optional() }, hidden: ['pin'], indexes: ['population', 'name'] })
  const app = createApp({ store: sqliteStore({ path: ':memory:' }), cache: memoryCache(), logger: { error: console.log, warn() {}, info() {}, debug() {} } as never })
  app.mount('/regions', createRouter({ model: Region, middlewares: [] }))
  app.mount('/countries', createRouter({ model: Country, middlewares: [], allowedFields: ['name', 'code', 'secret', 'region'] }))
  app.mount('/cities', createRouter({ model: City, middlewares: [], query: ['name', 'country', 'population'], search: ['name'], expandable: ['country', 'country.region'], exportLimit: 1000, cache: true }))
  app.mount('/closed', createRouter({ model: City, middlewares: [], allowedFields: [] }))
  const go = async (path: string, init?: RequestInit) => {
    const r = await app.handle(new Request('http://x' + path, init))
    const t = await r.text()
    console.log(init?.method ?? 'GET', path, init?.body ?? '', JSON.stringify(init?.headers ?? {}), '\n ', r.status, r.headers.get('content-type'), r.headers.get('vary'), r.headers.get('content-disposition'), '\n ', t.slice(0, 600))
    return t.startsWith('{') ? JSON.parse(t.split('\n')[0] as string) : t
  }
  const post = (path: string, v: unknown) => go(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(v) })
  const query = (b: unknown, h = {}) => go('/cities', { method: 'QUERY', headers: { 'content-type': 'application/json', ...h }, body: JSON.stringify(b) })
  const region = (await post('/regions', { name: 'Europe' })).data._id
  const country = (await post('/countries', { name: 'Portugal', code: 'PT', secret: 's', region })).data._id
  const city = (await post('/cities', { name: '=Lisbon', population: 5, country, founded: '2020-01-01T00:00:00Z', tags: ['a', 'b,"c'] })).data._id
  await post('/cities', { name: 'Porto', population: 3, country })
  await post('/cities', { name: 'Atlantis', population: -1 })
  await query({ filter: { or: [{ population: { gte: 5 } }, { name: 'Atlantis' }] } })
  await query({ filter: { or: [{ population: 1 }] } })
  await query({ filter: { or: [{ population: 1 }, { or: [] }] } })
  await query({ filter: { or: [{ pin: 1 }, {name: 'x'}] } })
  await query({ select: ['name', 'country.name'], expand: ['country.region'] })
  await query({ select: [] }); await query({ select: ['pin'] }); await query({ expand: ['tags'] })
  await go('/cities?select=name,population&expand=country')
  await go(`/cities/${city}?select=name&expand=country,country.region`)
  await go(`/cities/${city}?select=pin`); await go(`/cities/${city}?select=`); await go(`/cities/${city}`)
  await go('/cities', { headers: { accept: 'text/csv' } })
  await go('/cities?expand=country.region&sort=-population', { headers: { accept: 'text/csv' } })
  await go('/cities?select=name,tags', { headers: { accept: 'application/x-ndjson, text/csv;q=0.5' } })
  await go('/cities?page=2', { headers: { accept: 'text/csv' } })
  await go('/cities?pageSize=1', { headers: { accept: 'text/csv, application/json' } })
  await go('/closed', { headers: { accept: 'text/csv' } })
  await go('/cities', { method: 'HEAD', headers: { accept: 'text/csv' } })
  await query({ filter: { or: [{ population: 5 }, { population: 3 }] } , sort: 'population' }, { accept: 'application/x-ndjson' })
})
