/**
 * The atlas as an app: what it serves, on whatever store it is given.
 *
 * @module
 */

import {
  type App,
  type AppOptions,
  createApp,
  createAuthRouter,
  createRouter,
  type RouterOptions,
} from '../../src/index.ts'
import {
  accounts,
  City,
  type CityValues,
  Country,
  type CountryValues,
  Favourite,
  User,
} from './models.ts'

const countries: RouterOptions<CountryValues> = {
  model: Country,
  // A playground: everybody may write here.
  middlewares: [],
  orderBy: 'name',
  query: ['code', 'region', 'subregion', 'languages', 'currencies'],
  search: ['name', 'officialName', 'capitals'],
  filterableFields: ['region', 'area'],
  sortableFields: ['name', 'area'],
  allowedFields: [
    'code',
    'name',
    'officialName',
    'region',
    'subregion',
    'capitals',
    'languages',
    'currencies',
    'area',
    'emoji',
    'flag',
  ],
  maxLimit: 250,
  upload: { path: 'flags/', fields: [{ name: 'flag' }], acl: 'public-read' },
}

const cities: RouterOptions<CityValues> = {
  model: City,
  middlewares: [],
  orderBy: '-population',
  query: ['country', 'capital', 'name'],
  search: ['name', 'country.name'],
  filterableFields: ['country', 'capital', 'population', 'latitude', 'longitude', 'createdAt'],
  sortableFields: ['name', 'population'],
  allowedFields: ['name', 'country', 'population', 'capital', 'latitude', 'longitude'],
  // For clients behind proxies that refuse QUERY.
  methodOverride: true,
  // The country of a city is shown by name where the client asks for it: ?with=country
  onGet: (request) =>
    request.query.with === 'country'
      ? { populate: { path: 'country', select: ['name', 'emoji'] } }
      : {},
}

/** The atlas on the given store, cache and files; `secret` signs tokens and cursors. */
export function atlas(options: AppOptions & { readonly secret: string }): App {
  const app = createApp(options)
  const auth = createAuthRouter({
    ...accounts,
    model: User,
    token: { secret: options.secret },
    registerFields: ['name'],
    updateFields: ['name'],
  })
  app.mount('/auth', auth.router)
  app.mount(
    '/favourites',
    createRouter({
      model: Favourite,
      middlewares: [auth.requireAuth],
      // Everybody has favourites of their own; those of others do not exist for them.
      scope: (request) => ({ owner: request.auth?.userId }),
      orderBy: '-createdAt',
      query: ['city'],
      search: ['note', 'city.name'],
      allowedFields: ['city', 'note'],
      onGet: () => ({ populate: { path: 'city', select: ['name', 'population'] } }),
    }),
  )
  app.mount('/countries', createRouter(countries))
  app.mount('/cities', createRouter(cities))
  app.mount('/feed/cities', createRouter({ ...cities, pagination: 'cursor' }))
  return app
}
