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
import { openapi } from '../../src/openapi/index.ts'
import {
  accounts,
  City,
  type CityValues,
  Country,
  type CountryValues,
  Favourite,
  User,
} from './models.ts'
import { welcomePage } from './page.ts'

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

/** What the atlas is given beside the options of `createApp`. */
interface AtlasOptions extends AppOptions {
  /** Signs tokens and cursors. */
  readonly secret: string
  /** The path of the reference page's script, on a runtime that cannot read it from its package. */
  readonly script?: string
}

/** The atlas on the given store, cache and files. */
export function atlas({ script, ...options }: AtlasOptions): App {
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
  app.mount('/', welcomePage())
  app.mount(
    '/docs',
    openapi({
      title: 'Atlas',
      version: '1.0',
      ...(script !== undefined && { script }),
      description:
        'The countries and cities of the world, with accounts and favourites. Anyone may read and write countries and cities. To keep favourites, sign up with `POST /auth/register` and enter the token of its response under Authentication.',
    }),
  )
  return app
}
