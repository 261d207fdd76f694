import { describe, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import {
  type App,
  defineModel,
  type ExpandedRecord,
  type RecordCollection,
  type RecordOf,
  ref,
} from '../../src/index.ts'

const City = defineModel('TypedCollectionCity', {
  fields: { name: z.string(), population: z.number().optional(), foundedAt: z.date().optional() },
})
type City = RecordOf<typeof City>

const collectionOf = (app: App) => app.store.collection(City)
type Cities = ReturnType<typeof collectionOf>

/** Compiled, never run. */
async function compiled(cities: Cities): Promise<void> {
  expectTypeOf(await cities.find()).toEqualTypeOf<City[]>()
  expectTypeOf(await cities.findOne({ name: 'Oslo' })).toEqualTypeOf<City | null>()
  expectTypeOf(await cities.findById('x')).toEqualTypeOf<City | null>()
  expectTypeOf(await cities.count({ population: { gte: 5 } })).toEqualTypeOf<number>()
  expectTypeOf(await cities.insert({ name: 'Oslo' })).toEqualTypeOf<City>()
  expectTypeOf(await cities.update('x', { name: 'Oslo' })).toEqualTypeOf<City | null>()
  expectTypeOf(
    await cities.updateWhere({ name: ['a', 'b'] }, { population: 1 }),
  ).toEqualTypeOf<number>()
  expectTypeOf(await cities.delete('x')).toEqualTypeOf<boolean>()
  const kept = await cities.find(
    { foundedAt: { lt: new Date() } },
    { sort: '-name', limit: 5, skip: 5, select: ['name', 'population'] },
  )
  expectTypeOf(kept).toEqualTypeOf<Pick<City, '_id' | 'name' | 'population'>[]>()
  const left = await cities.find({}, { select: ['-name'] })
  expectTypeOf(left).toEqualTypeOf<Omit<City, 'name'>[]>()
  const names: string[] = ['name']
  expectTypeOf(await cities.find({}, { select: names })).toEqualTypeOf<City[]>()
  // @ts-expect-error 'nmae' is no field
  await cities.find({ nmae: 'Oslo' })
  // @ts-expect-error 'nmae' is no field
  await cities.find({}, { sort: 'nmae' })
  // @ts-expect-error no such operator
  await cities.find({ name: { like: 'x' } })
  // @ts-expect-error the name is missing
  await cities.insert({ population: 5 })
  // @ts-expect-error a number is wanted
  await cities.update('x', { population: 'many' })
  await cities.update('x', { population: null, foundedAt: null })
  await cities.updateWhere({}, { population: null })
  // @ts-expect-error every record has a name
  await cities.update('x', { name: null })
  // @ts-expect-error 'nmae' is no field
  await cities.update('x', { nmae: 'Oslo' })
  // @ts-expect-error 'nmae' is no field
  await cities.updateWhere({}, { nmae: 'Oslo' })
}

const Street = defineModel('TypedCollectionStreet', {
  fields: {
    name: z.string(),
    city: ref('TypedCollectionCity'),
    twin: ref('TypedCollectionStreet').optional(),
    near: z.array(ref('TypedCollectionCity')),
    far: z.array(ref('TypedCollectionCity').nullable()),
    built: z.object({ by: ref('TypedCollectionCity'), year: z.number() }),
  },
})

/** Compiled, never run: references are what `expand` makes of them. */
async function compiledExpansions(app: App): Promise<void> {
  const streets = app.store.collection(Street)
  const [plain] = await streets.find({}, { s: 'x', sort: 'name' })
  expectTypeOf(plain?.city).toEqualTypeOf<string | undefined>()
  const [street] = await streets.find(
    {},
    { expand: ['city', 'twin.city', 'near', 'far', 'built.by'] },
  )
  const select = ['name', 'built.year'] as const
  const [part] = await streets.find({}, { expand: ['city'], select })
  expectTypeOf<keyof NonNullable<typeof part>>().toEqualTypeOf<'_id' | 'name' | 'built' | 'city'>()
  expectTypeOf(part?.city).toEqualTypeOf<ExpandedRecord | null | undefined>()
  if (!street) return
  expectTypeOf(street.name).toEqualTypeOf<string>()
  expectTypeOf(street.city).toEqualTypeOf<ExpandedRecord | null>()
  expectTypeOf(street.twin).toEqualTypeOf<ExpandedRecord | null | undefined>()
  expectTypeOf(street.near).toEqualTypeOf<ExpandedRecord[]>()
  expectTypeOf(street.far).toEqualTypeOf<(ExpandedRecord | null)[]>()
  expectTypeOf(street.built).toEqualTypeOf<{ by: ExpandedRecord | null; year: number }>()
  expectTypeOf(await streets.count({}, { s: 'x' })).toEqualTypeOf<number>()
  // @ts-expect-error 'ciy' is no field
  await streets.find({}, { expand: ['ciy'] })
  // @ts-expect-error 'srot' is no option
  await streets.find({}, { srot: 'name' })
  // @ts-expect-error a term is a string
  await streets.find({}, { s: 5 })
}

/** Compiled, never run: the groups are what is asked for. */
async function compiledGroups(cities: Cities): Promise<void> {
  const groups = await cities.aggregate({
    ...{ count: true, sum: ['population'], avg: ['population'] },
    ...{ min: ['foundedAt'], max: ['population'], by: ['name', 'foundedAt:month', '_id'] },
    ...{ filter: { population: { gte: 5 } }, sort: '-count', limit: 5 },
  } as const)
  expectTypeOf(groups).toEqualTypeOf<
    {
      name: string | null
      'foundedAt:month': string | null
      _id: string | null
      count: number
      sum: { population: number }
      avg: { population: number | null }
      min: { foundedAt: Date | null }
      max: { population: number | null }
    }[]
  >()
  const counted = await cities.aggregate({ count: true, by: ['foundedAt'] })
  expectTypeOf(counted).toEqualTypeOf<{ foundedAt: Date | null; count: number }[]>()
  // @ts-expect-error 'nmae' is no field
  await cities.aggregate({ count: true, by: ['nmae'] })
  // @ts-expect-error a date has no week
  await cities.aggregate({ count: true, by: ['foundedAt:week'] })
  // @ts-expect-error a name has no sum
  await cities.aggregate({ sum: ['name'] })
  // @ts-expect-error a date has no sum
  await cities.aggregate({ sum: ['foundedAt'] })
  // @ts-expect-error the sum is not asked for
  await cities.aggregate({ count: true, sort: '-sum.population' })
  await cities.aggregate({ count: true, by: ['name'], sort: ['name', '-count'] })
  // A sort that a user chooses is judged when it runs.
  const chosen: string = process.argv[2] ?? '-count'
  await cities.aggregate({ count: true, sort: chosen })
  await cities.aggregate({ count: true, sort: [chosen, 'count'] })
  await cities.aggregate({ count: true, sort: [chosen].flat() })
  // @ts-expect-error 'filter' is meant
  await cities.aggregate({ count: true, where: { name: 'Oslo' } })
}

const Plan = defineModel('TypedCollectionPlan', {
  fields: {
    name: z.string(),
    seats: z.number().default(1),
    since: z.coerce.date<string | Date>(),
    code: z.string().transform((text) => text.length),
  },
})

/** Compiled, never run: what is written is what the schema takes. */
async function compiledWrites(app: App): Promise<void> {
  const plans = app.store.collection(Plan)
  const plan = await plans.insert({ name: 'a', since: '2024-01-01', code: 'abc' })
  expectTypeOf(plan).toExtend<{ seats: number; since: Date; code: number }>()
  await plans.insert({ _id: 'x', name: 'a', since: new Date(), code: 'abc', seats: 2 })
  await plans.update(plan._id, { since: '2024-01-01' })
  // @ts-expect-error a text is taken
  await plans.insert({ name: 'a', since: '2024-01-01', code: 5 })
  // @ts-expect-error the name is missing
  await plans.insert({ since: '2024-01-01', code: 'abc' })
  // @ts-expect-error a text is taken
  await plans.update(plan._id, { code: 5 })
}

describe('design, app.store: types', () => {
  test('design, app.store: the model gives the type of what is read and written', () => {
    expectTypeOf<Cities>().toExtend<
      RecordCollection<{
        name: string
        population?: number | undefined
        foundedAt?: Date | undefined
      }>
    >()
    expectTypeOf(compiledExpansions).returns.resolves.toEqualTypeOf<void>()
    expectTypeOf(compiledGroups).returns.resolves.toEqualTypeOf<void>()
    expectTypeOf(compiledWrites).returns.resolves.toEqualTypeOf<void>()
    expectTypeOf(compiled).returns.resolves.toEqualTypeOf<void>()
  })
})
