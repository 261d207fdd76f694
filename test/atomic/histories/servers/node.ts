/**
 * Serves the world at a place, given as JSON, in so many processes, with the cache at a URL or in memory if there is one, and
 * says on which port.
 */

import { memoryCache } from '../../../../adapters/caches/memory.ts'
import { redisCache } from '../../../../adapters/caches/redis.ts'
import { serve } from '../../../../adapters/runtimes/node.ts'
import { storeAt } from '../../../faults/atomic/place.ts'
import { worldOn } from '../world.ts'

const [place = '', processes = '1', cache = ''] = process.argv.slice(2)
const kept = cache === 'memory' ? memoryCache() : cache && redisCache({ url: cache })
const app = worldOn(storeAt(JSON.parse(place)), kept || undefined)
await app.ready()
const { url } = await serve(app, {
  port: 0,
  hostname: '127.0.0.1',
  signals: false,
  processes: Number(processes),
})
if (process.send === undefined) {
  process.stdout.write(`${url}\n`)
  process.stdin.resume().once('end', () => process.exit())
}
