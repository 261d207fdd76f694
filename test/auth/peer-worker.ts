/**
 * Peers in a Worker, on D1: a POST with `{ options, task }` asks the peer of that path.
 *
 * @module
 */

import { type D1Binding, d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { type Ask, createPeer, type PeerOptions, type Task } from './peer.ts'

const peers = new Map<string, Promise<Ask>>()

export default {
  async fetch(request: Request, { DB }: { DB: D1Binding }): Promise<Response> {
    const { pathname } = new URL(request.url)
    const { options, task } = (await request.json()) as { options: PeerOptions; task: Task }
    const peer = peers.get(pathname) ?? createPeer(d1Store(DB), options)
    peers.set(pathname, peer)
    return Response.json(await (await peer)(task))
  },
}
