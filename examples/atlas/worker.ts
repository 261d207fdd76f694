/**
 * The atlas on Cloudflare Workers and D1, with a small seed on the first request.
 *
 * @module
 */

import small from '../../.cache/atlas/small-seed.json' with { type: 'json' }
import { worker } from '../../adapters/runtimes/workers.ts'
import { type D1Binding, d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { adminPage } from './admin.ts'
import { atlas } from './app.ts'
import type { CityValues, CountryValues } from './models.ts'
import { seed } from './seed.ts'

/** The bindings of wrangler.toml. */
interface Env {
  readonly DB: D1Binding
  /** `wrangler secret put ATLAS_SECRET` */
  readonly ATLAS_SECRET: string
}

const { countries, cities } = small as { countries: CountryValues[]; cities: CityValues[] }

export default worker<Env>((env) => {
  const app = atlas({
    store: d1Store(env.DB),
    secret: env.ATLAS_SECRET,
    script: '/scalar.js',
    admin: adminPage(),
  })
  let seeded: Promise<unknown> | undefined
  app.use(async () => {
    seeded ??= seed(app, {
      countries: () => countries,
      cities: (ids) =>
        cities.map((city) => ({ ...city, country: ids.get(city.country) ?? city.country })),
    }).catch((error: unknown) => {
      seeded = undefined
      throw error
    })
    await seeded
  })
  return app
})
