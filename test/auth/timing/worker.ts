/**
 * The accounts in a Worker, on D1: `/prepare` and `/restore` do what they say, all else goes to the app.
 *
 * @module
 */

import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { type Subject, subject } from './accounts.ts'

let known: Subject | undefined

export default {
  async fetch(request: Request, env: { DB: D1Binding }, platform: object): Promise<Response> {
    known ??= subject(d1Store(env.DB))
    const { pathname } = new URL(request.url)
    if (pathname === '/prepare') return done(known.prepare())
    if (pathname === '/restore') return done(known.restore())
    const clientAddress = request.headers.get('x-client') ?? undefined
    const waitUntil = (platform as { waitUntil(work: Promise<unknown>): void }).waitUntil
    return known.app.handle(request, env, {
      clientAddress,
      waitUntil: waitUntil.bind(platform),
    })
  },
}

async function done(work: Promise<void>): Promise<Response> {
  await work
  return new Response()
}
