import { describe, expect, it, test } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import { createRouter, defineModel, type RouterOptions, ref } from '../../../src/index.ts'
import { service } from '../service.ts'

const Region = defineModel('ChoiceRegion', {
  fields: { name: z.string(), area: z.number().optional(), budget: z.number() },
  hidden: ['budget'],
})
const Country = defineModel('ChoiceCountry', {
  fields: {
    name: z.string(),
    code: z.string(),
    pin: z.string(),
    region: ref('ChoiceRegion').nullish(),
    allies: z.array(ref('ChoiceCountry')).optional(),
  },
  hidden: ['pin'],
})
const fields = {
  name: z.string(),
  size: z.number(),
  place: z.object({ x: z.number(), y: z.number(), code: z.string() }),
  country: ref('ChoiceCountry').nullish(),
  twin: ref('ChoiceCity').nullish(),
  secret: z.string(),
}
const City = defineModel('ChoiceCity', { fields, hidden: ['secret', 'place.code'] })
type Options = Omit<RouterOptions<z.infer<z.ZodObject<typeof fields>>>, 'model'>

const LIMITED = { expandable: ['country', 'country.region', 'twin'] as const }

async function opened(options: Partial<Options> = {}, model = City) {
  const { app, send } = service({ cache: memoryCache() })
  const own = { middlewares: [], ...LIMITED, ...options }
  app.mount('/regions', createRouter({ model: Region, middlewares: [] }))
  app.mount('/countries', createRouter({ model: Country, middlewares: [] }))
  app.mount('/cities', createRouter({ model, ...own } as never))
  const { store } = app
  const region = await store.collection(Region).insert({ name: 'Europe', budget: 9 })
  const portugal = { name: 'Portugal', code: 'PT', pin: '1', region: region._id }
  const country = await store.collection(Country).insert(portugal)
  const place = { x: 1, y: 2, code: 'c' }
  const porto = await store.collection(model).insert({ name: 'Porto', size: 1, place, secret: 's' })
  const lisbon = { name: 'Lisbon', size: 2, place, secret: 's', country: country._id }
  const city = await store.collection(model).insert({ ...lisbon, twin: porto._id })
  const ask = async (url: string) => {
    const { status, body } = await send('GET', `/cities${url}`)
    return body.error ?? (status === 200 ? body.data : status)
  }
  const query = async (body: object) => (await send('QUERY', '/cities', { json: body })).body
  const ids = { region: region._id, country: country._id, city: city._id, porto: porto._id }
  return { send, ask, query, ...ids }
}

describe('select', () => {
  it('returns the fields that it names, and `_id`, of a list and of one record', async () => {
    const { ask, query, city } = await opened()
    const lisbon = { _id: city, name: 'Lisbon', place: { x: 1 } }
    expect(await ask('?select=name,place.x')).toContainEqual(lisbon)
    expect(await ask(`/${city}?select=place.x&select=name`)).toEqual(lisbon)
    expect((await query({ select: ['name', 'place.x'] })).data).toContainEqual(lisbon)
    expect(await ask(`/${city}?select=place`)).toEqual({ _id: city, place: { x: 1, y: 2 } })
    expect(await ask(`/${city}?select=_id`)).toEqual({ _id: city })
  })

  test.each(['secret', 'place.code', 'nope', 'place.z', 'name.first', '__proto__', 'country.name'])(
    'refuses a field that nobody sees: %s',
    async (name) => {
      const { ask, query, city } = await opened()
      const error = `Field '${name}' cannot be selected.`
      expect(await ask(`?select=name,${name}`)).toBe(error)
      expect(await ask(`/${city}?select=${name}`)).toBe(error)
      expect(await ask(`/${'0'.repeat(24)}?select=${name}`)).toBe(error)
      expect(await query({ select: [name] })).toMatchObject({ error })
    },
  )

  test.each([[[]], ['name'], [[1]], [['']], [Array.from({ length: 101 }, () => 'name')]])(
    'refuses as a list of names: %j',
    async (select) => {
      const { query } = await opened()
      expect(await query({ select })).toMatchObject({
        error: "'select' must be a list of 1 to 100 field names.",
      })
    },
  )

  it('refuses empty names and brackets in a URL', async () => {
    const { ask, city } = await opened({ cache: true })
    await ask(`/${city}`)
    for (const url of [
      '?select=',
      '?select=name,,size',
      '?select[]=name',
      '?select=name&select[x]=y',
    ]) {
      expect(await ask(`/${city}${url}`)).toBe("'select' must be a list of 1 to 100 field names.")
      expect(await ask(url)).toBe("'select' must be a list of 1 to 100 field names.")
    }
  })

  it('refuses what `fieldsFor` withholds and what `onGet` leaves out', async () => {
    const some = await opened({ fieldsFor: () => ['name', 'country'] })
    expect(await some.ask('?select=size')).toBe("Field 'size' cannot be selected.")
    expect(await some.ask(`/${some.city}?select=name`)).toEqual({ _id: some.city, name: 'Lisbon' })
    const chosen = await opened({ onGet: () => ({ select: 'name place.x' }) })
    expect(await chosen.ask('?select=size')).toBe("Field 'size' cannot be selected.")
    expect(await chosen.ask(`/${chosen.city}?select=place`)).toEqual({
      _id: chosen.city,
      place: { x: 1 },
    })
    const less = await opened({ onGet: () => ({ select: '-place.x -size' }) })
    expect(await less.ask('?select=place.x')).toBe("Field 'place.x' cannot be selected.")
    expect(await less.ask(`/${less.city}?select=place`)).toEqual({
      _id: less.city,
      place: { y: 2 },
    })
  })

  it('of `_id` holds where `onGet` names other fields, of the record or of a reference', async () => {
    const populate = { path: 'country', select: 'name' } as const
    const { ask, query, city, country } = await opened({
      onGet: () => ({ select: 'name country', populate }),
    })
    expect(await ask(`/${city}?select=_id`)).toEqual({ _id: city })
    expect((await query({ select: ['_id'] })).data).toContainEqual({ _id: city })
    const inside = await ask(`/${city}?expand=country&select=country._id`)
    expect(inside).toEqual({ _id: city, country: { _id: country } })
  })

  it("gives the model's `output` whole records, and shows the part of what it returns", async () => {
    const Loud = defineModel('ChoiceLoud', {
      fields,
      hidden: ['secret', 'place.code'],
      output: ({ name, ...rest }) => ({ ...rest, name: `${name.toUpperCase()} ${rest.size}` }),
    })
    const { ask, city } = await opened({}, Loud as never)
    expect(await ask(`/${city}?select=name`)).toEqual({ _id: city, name: 'LISBON 2' })
  })

  it('is kept in the cache by what it names', async () => {
    const { ask, city } = await opened({ cache: true })
    for (let again = 0; again < 2; again++) {
      expect(await ask(`/${city}?select=name`)).toEqual({ _id: city, name: 'Lisbon' })
      expect(await ask(`/${city}?select=size`)).toEqual({ _id: city, size: 2 })
      expect(await ask(`/${city}`)).toMatchObject({ name: 'Lisbon', size: 2 })
      expect(await ask('?select=size')).toContainEqual({ _id: city, size: 2 })
      // Empty lists are refused, as without a cache.
      for (const name of ['select', 'expand']) {
        const error = `'${name}' must be a list of 1 to 100 field names.`
        expect(await ask(`/${city}?${name}=`)).toBe(error)
      }
    }
  })
})

describe('expand', () => {
  it('fills in the references that it names, two deep', async () => {
    const { ask, query, city, country, region } = await opened()
    const portugal = { _id: country, name: 'Portugal', code: 'PT', region }
    expect(await ask(`/${city}?expand=country`)).toMatchObject({ country: portugal })
    const deep = { ...portugal, region: { _id: region, name: 'Europe' } }
    expect(await ask(`/${city}?expand=country.region`)).toMatchObject({ country: deep })
    expect((await query({ expand: ['country', 'country.region'] })).data).toContainEqual(
      expect.objectContaining({ country: deep }),
    )
  })

  it('comes along with `select`, which may name fields inside it', async () => {
    const { ask, city, country, region } = await opened()
    const at = `/${city}?expand=country.region&select=name`
    expect(await ask(at)).toMatchObject({ name: 'Lisbon', country: { code: 'PT' } })
    expect(await ask(`${at},country.name`)).toEqual({
      ...{ _id: city, name: 'Lisbon' },
      country: { _id: country, name: 'Portugal', region: { _id: region, name: 'Europe' } },
    })
    expect(await ask(`${at},country.pin`)).toBe("Field 'country.pin' cannot be selected.")
  })

  it('comes whole with a `select` that names it, whatever else is named inside it', async () => {
    const { ask, city, country, region } = await opened()
    const portugal = { _id: country, name: 'Portugal', code: 'PT', region }
    const at = `/${city}?expand=country&select=country,country.name`
    expect(await ask(at)).toEqual({ _id: city, country: portugal })
    expect(await ask(`${at},country.pin`)).toBe("Field 'country.pin' cannot be selected.")
  })

  it('lets `select` name fields of what is filled in two deep', async () => {
    const { send, ask, city, country, region } = await opened()
    await send('PATCH', `/regions/${region}`, { json: { area: 7 } })
    const at = `/${city}?expand=country.region&select=`
    expect(await ask(`${at}country.region.name,country.code`)).toEqual({
      _id: city,
      country: { _id: country, code: 'PT', region: { _id: region, name: 'Europe' } },
    })
    expect(await ask(`${at}country.region.area,country.region`)).toEqual({
      _id: city,
      country: { _id: country, region: { _id: region, name: 'Europe', area: 7 } },
    })
    for (const name of ['country.region.budget', 'country.region.nope', 'country.allies.name']) {
      expect(await ask(`${at}name,${name}`)).toBe(`Field '${name}' cannot be selected.`)
    }
  })

  test.each(['country.allies', 'name', 'secret', 'region', '__proto__'])(
    'refuses a reference that is not listed: %s',
    async (name) => {
      const { ask, query, city } = await opened()
      const error = `Field '${name}' cannot be expanded.`
      expect(await ask(`?expand=${name}`)).toBe(error)
      expect(await ask(`/${city}?expand=country,${name}`)).toBe(error)
      expect(await query({ expand: [name] })).toMatchObject({ error })
    },
  )

  it('shows no more of records than `fieldsFor`, `onGet` and the scope of their routers', async () => {
    const some = await opened({ fieldsFor: () => ['name', 'twin'] })
    expect(await some.ask('?expand=country')).toBe("Field 'country' cannot be expanded.")
    const { city, porto } = some
    expect(await some.ask(`/${city}?expand=twin`)).toEqual({
      ...{ _id: city, name: 'Lisbon' },
      twin: { _id: porto, name: 'Porto' },
    })
    const populate = [{ path: 'country', select: 'name' }] as const
    const chosen = await opened({ onGet: () => ({ populate }) })
    const shown = { country: { _id: chosen.country, name: 'Portugal' } }
    expect(await chosen.ask(`/${chosen.city}?expand=country`)).toMatchObject(shown)
    expect(await chosen.ask(`/${chosen.city}?expand=country.region`)).toBe(
      "Field 'country.region' cannot be expanded.",
    )
    const own = await opened({ scope: () => ({ name: 'Lisbon' }) })
    expect(await own.ask(`/${own.city}?expand=twin`)).toMatchObject({ twin: null })
  })

  it('is never stale: a write of what it shows ends what the cache holds', async () => {
    const { send, ask, city, region } = await opened({ cache: true })
    const at = `/${city}?expand=country.region`
    const named = (name: string) => ({ country: { region: { name } } })
    expect(await ask(at)).toMatchObject(named('Europe'))
    await send('PATCH', `/regions/${region}`, { json: { name: 'Iberia' } })
    expect(await ask(at)).toMatchObject(named('Iberia'))
  })

  it('fills in at most `maxPopulated` records, at both depths together', async () => {
    const { ask, city, region } = await opened({ maxPopulated: 1 })
    expect(await ask(`/${city}?expand=country.region`)).toMatchObject({
      country: { name: 'Portugal', region },
    })
  })

  test.each([
    [['nope'], /'expandable' lists 'nope'/],
    [['name'], "'expandable' names 'name', which is not a reference to a model"],
    [['country.name'], "'expandable' names 'country.name', which is not a reference to a model"],
    [['country.nope'], /'expandable' lists 'country.nope'/],
    [['country.region.x'], /'expandable' lists 'country.region.x'/],
  ])('of %j is a start-up error', async (expandable, message) => {
    const start = async () => (await opened({ expandable } as never)).ask('')
    await expect(start()).rejects.toThrow(message)
  })
})
