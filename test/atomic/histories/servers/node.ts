/** Serves the world at a place, given as JSON, with the cache at a URL if there is one, and says on which port. */

import { redisCache } from '../../../../adapters/caches/redis.ts'
import { serve } from '../../../../adapters/runtimes/node.ts'
import { storeAt } from '../../../faults/atomic/place.ts'
import { worldOn } from '../world.ts'

const [place = '', cache] = process.argv.slice(2)
const app = worldOn(storeAt(JSON.parse(place)), cache ? redisCache({ url: cache }) : undefined)
await app.ready()
const { url } = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
process.stdout.write(`${url}\n`)
process.stdin.resume().once('end', () => process.exit())
