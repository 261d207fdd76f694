/**
 * The Worker.
 *
 * @module
 */

import { libsqlStore } from 'fieldgate/libsql'
import { worker } from 'fieldgate/workers'
import { readConfig } from './config.ts'
import { makeApp } from './make-app.ts'

export default worker<object>((env) => {
  const config = readConfig(env)
  return makeApp(
    libsqlStore({ url: config.DATABASE_URL, authToken: config.DATABASE_TOKEN }),
    config,
  )
})
