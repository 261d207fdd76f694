/**
 * The Worker. The app and its records are in one Durable Object.
 *
 * @module
 */

import { durableStore } from 'fieldgate/durable-sqlite'
import { appObject } from 'fieldgate/workers'
import { readConfig } from './config.ts'
import { makeApp } from './make-app.ts'

/** The bindings of wrangler.jsonc. The variables are in config.ts. */
interface Env {
  readonly API: unknown
}

export const Api = appObject<Env>((env, { storage }) =>
  makeApp(durableStore(storage), readConfig(env)),
)

export default Api.worker({ binding: 'API' })
