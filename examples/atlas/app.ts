/**
 * The atlas as an app: what it serves, on whatever store it is given.
 *
 * @module
 */

import {
  type AppOptions,
  createApp,
  createAuthRouter,
  createRouter,
  type Mountable,
  type RouterOptions,
} from '../../src/index.ts'
import { openapi } from '../../src/openapi/index.ts'
import { favouritesPage } from './favourites.ts'
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
import type { State } from './seeding.ts'

const countries = {
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
} as const satisfies RouterOptions<CountryValues>

const cities = {
  model: City,
  middlewares: [],
  orderBy: '-population',
  query: ['country', 'capital', 'name'],
  search: ['name', 'country.name'],
  filterableFields: ['country', 'capital', 'population', 'latitude', 'longitude', 'createdAt'],
  sortableFields: ['name', 'population'],
  allowedFields: ['name', 'country', 'population', 'capital', 'latitude', 'longitude'],
  expandable: ['country'],
  exportLimit: 200_000,
  // For clients behind proxies that refuse QUERY.
  methodOverride: true,
  // The country of a city is shown by name where the client asks for it: ?with=country
  onGet: (request) =>
    request.query.with === 'country'
      ? { populate: { path: 'country', select: ['name', 'emoji'] } }
      : {},
} as const satisfies RouterOptions<CityValues>

/** What the atlas is given beside the options of `createApp`. */
interface AtlasOptions extends AppOptions {
  /** Signs tokens and cursors. */
  readonly secret: string
  /** The path of the reference page's script, on a runtime that cannot read it from its package. */
  readonly script?: string
  /** How far the seed is, as long as there is one. */
  readonly seeding?: () => State | undefined
  /** The admin page, where its files are there. */
  readonly admin?: Mountable
}

/** The atlas on the given store, cache and files. */
// The mounts are in the type that it returns: typed clients are checked against it.
export function atlas({ script, seeding, admin, ...options }: AtlasOptions) {
  const auth = createAuthRouter({
    ...accounts,
    model: User,
    token: { secret: options.secret },
    registerFields: ['name'],
    updateFields: ['name'],
  })
  const app = createApp(options)
  if (admin) app.mount('/admin', admin)
  return app
    .mount('/auth', auth.router)
    .mount(
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
        live: true,
        history: true,
        access: { restore: true },
      }),
    )
    .mount('/countries', createRouter(countries))
    .mount('/cities', createRouter(cities))
    .mount('/feed/cities', createRouter({ ...cities, pagination: 'cursor' }))
    .mount(
      '/statistics',
      // For the chart of the page at `/`: groups of cities, and no city.
      createRouter({
        model: City,
        middlewares: [],
        access: {
          list: false,
          query: true,
          read: false,
          create: false,
          update: false,
          remove: false,
        },
        aggregates: { by: ['country', 'capital'], of: ['population'] },
        maxLimit: 300,
      }),
    )
    .mount('/your-favourites', favouritesPage())
    .mount('/', welcomePage({ seeding, hasAdmin: admin !== undefined }))
    .mount(
      '/docs',
      openapi({
        title: 'Atlas',
        version: '1.0',
        ...(script !== undefined && { script }),
        description:
          'The countries and cities of the world, with accounts and favourites. Anyone may read and write countries and cities. To keep favourites, sign up with `POST /auth/register` and enter the token of its response under Authentication.',
      }),
    )
}
