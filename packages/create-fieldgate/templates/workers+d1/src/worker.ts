/**
 * The Worker.
 *
 * @module
 */

import { type D1Binding, d1Store } from 'fieldgate/d1'
import { worker } from 'fieldgate/workers'
import { readConfig } from './config.ts'
import { makeApp } from './make-app.ts'

/** The bindings of wrangler.jsonc. The variables are in config.ts. */
interface Env {
  readonly DB: D1Binding
}

export default worker<Env>((env) => makeApp(d1Store(env.DB), readConfig(env)))
