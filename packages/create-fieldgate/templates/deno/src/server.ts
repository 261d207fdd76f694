/**
 * The server. It ends in order on SIGTERM and Ctrl-C.
 *
 * @module
 */

import { serve } from 'fieldgate/deno'
import { app, config } from './app.ts'

const { url } = await serve(app, {
  hostname: config.HOST,
  port: config.PORT,
  trustProxy: config.TRUST_PROXY,
})
console.log(`Listening on ${url}, with the reference on ${url}/docs`)
