/**
 * The app under measurement.
 *
 * @module
 */

import { sqliteStore } from '../adapters/stores/sqlite/node.ts'
import { City, type CityValues } from '../examples/atlas/models.ts'
import { type App, createApp, createRouter, type RouterOptions } from '../src/index.ts'

/** The cities of the database at `path`: unpaginated lists of 50, offset pages, and cursor pages. */
export function benchApp(path: string): App {
  const app = createApp({ store: sqliteStore({ path }) })
  const cities: RouterOptions<CityValues> = {
    model: City,
    orderBy: '-population',
    query: ['country'],
    allowedFields: ['name', 'country', 'population', 'capital', 'latitude', 'longitude'],
    maxLimit: 50,
  }
  app.mount('/cities', createRouter(cities))
  app.mount('/feed/cities', createRouter({ ...cities, pagination: 'cursor' }))
  return app
}
