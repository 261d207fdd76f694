import { expect, it, onTestFinished } from 'vitest'
import { runs } from '../runs.ts'
import { withService } from '../services/shared.ts'
import { startSingleMongod } from '../services/single-mongod.ts'
import { adminRound, endings } from './admins.ts'
import { processOn } from './peers.ts'
import { races } from './races.ts'

await withService('mongo', ({ url }) => {
  const address = new URL(url)
  address.pathname = `/auth${process.pid}`
  const opener = new URL('stores/mongodb.ts', import.meta.url)
  races('two processes on MongoDB', processOn(opener, address.href))

  it('on a server without transactions an admin remains, and exactly one if one process ends the others', async () => {
    const { url, stop } = await startSingleMongod()
    onTestFinished(stop)
    const start = () => processOn(opener, `${url}/auth`)({ graceSeconds: 0, maxAttempts: 10 })
    const peers = [await start(), await start()]
    onTestFinished(() => {
      for (const peer of peers) peer.end()
    })
    for (const ending of endings) {
      for (let round = 0; round < runs(2); round += 1) {
        const one = await adminRound(peers.slice(0, 1), 3, ending)
        expect(one).toEqual({ fewest: 1, left: 1, failures: [] })
        const { left, failures } = await adminRound(peers, 3, ending)
        expect(failures).toEqual([])
        expect(left).toBeGreaterThanOrEqual(1)
      }
    }
  })
})
