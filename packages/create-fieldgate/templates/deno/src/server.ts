/**
 * The server. It ends in order on SIGTERM and Ctrl-C.
 *
 * @module
 */

import { serve } from 'fieldgate/deno'
import { endWithAdvice } from './advice.ts'
import { app, config } from './app.ts'

const starting = serve(app, {
  hostname: config.HOST,
  port: config.PORT,
  trustProxy: config.TRUST_PROXY,
})
starting.catch(endWithAdvice)
const { url } = await starting
console.log(`Listening on ${url}, with the reference on ${url}/docs`)
