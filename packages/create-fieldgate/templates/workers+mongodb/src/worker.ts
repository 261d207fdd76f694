/**
 * The Worker. The app is in Durable Objects, because only they can keep connections to MongoDB open.
 *
 * @module
 */

import { mongoStore } from 'fieldgate/mongodb'
import { appObject } from 'fieldgate/workers'
import { readConfig } from './config.ts'
import { makeApp } from './make-app.ts'

/** The bindings of wrangler.jsonc. The variables are in config.ts. */
interface Env {
  readonly API: unknown
}

export const Api = appObject<Env>((env) => {
  const config = readConfig(env)
  return makeApp(mongoStore({ url: config.DATABASE_URL }), config)
})

export default Api.worker({ binding: 'API', instances: 4 })
