import { afterAll } from 'vitest'
import type { Done, PeerOptions } from './peer.ts'
import type { Peer } from './peers.ts'
import { races } from './races.ts'
import { startWorker } from './workers.ts'

const workerd = await startWorker(new URL('peer-worker.ts', import.meta.url))
afterAll(() => workerd.dispose())

let peers = 0

/** One of several apps in a Worker, each with its own view of the database. */
async function start(options: PeerOptions): Promise<Peer> {
  peers += 1
  const url = `http://worker/peer${peers}`
  const peer: Peer = {
    async ask(task) {
      const body = JSON.stringify({ options, task })
      const answer = await workerd.dispatchFetch(url, { method: 'POST', body })
      return (await answer.json()) as Done
    },
    end() {},
  }
  await peer.ask({ requests: [] })
  return peer
}

races('two apps in a Worker on D1', start)
