/**
 * The server. It ends in order on SIGTERM and Ctrl-C.
 *
 * @module
 */

import { serve } from 'fieldgate/bun'
// @if compose
import { endWithout } from './absent.ts'
// @end
import { app, config } from './app.ts'

const starting = serve(app, {
  hostname: config.HOST,
  port: config.PORT,
  trustProxy: config.TRUST_PROXY,
})
// @if compose
starting.catch(endWithout)
// @end
const { url } = await starting
console.log(`Listening on ${url}, with the reference on ${url}/docs`)
