/**
 * What is in the place of a server: requests below `api/` go to the page of the playground, which has the app.
 *
 * @module
 */

import type { Answer, Asked } from './page.ts'

interface Asking extends Event {
  readonly request: Request
  readonly clientId: string
  respondWith(response: Promise<Response>): void
}
interface Client {
  readonly id: string
  readonly url: string
  postMessage(message: Asked, ports: readonly MessagePort[]): void
}
/** The part of its surroundings that it uses; the DOM's types have none of a service worker. */
interface Surroundings {
  readonly location: Location
  readonly clients: { claim(): Promise<void>; matchAll(): Promise<readonly Client[]> }
  skipWaiting(): Promise<void>
  addEventListener(type: 'install' | 'activate', listener: () => void): void
  addEventListener(type: 'fetch', listener: (event: Asking) => void): void
}

const scope = self as unknown as Surroundings
const home = new URL('./', scope.location.href).href

scope.addEventListener('install', () => void scope.skipWaiting())
scope.addEventListener('activate', () => void scope.clients.claim())
scope.addEventListener('fetch', (event) => {
  if (event.request.url.startsWith(`${home}api/`)) event.respondWith(respond(event))
})

async function respond({ request, clientId }: Asking): Promise<Response> {
  const pages = (await scope.clients.matchAll()).filter(({ url }) => url.split('#', 1)[0] === home)
  const page = pages.find(({ id }) => id === clientId) ?? pages[0]
  if (!page) return new Response('The playground is not open.', { status: 503 })
  const { method, url, headers } = request
  const body = await request.arrayBuffer()
  const asked = { method, url, headers: [...headers], body: body.byteLength > 0 ? body : null }
  const answer = await new Promise<Answer>((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = ({ data }) => resolve(data as Answer)
    page.postMessage(asked, [port2])
  })
  if ('error' in answer) return new Response(answer.error, { status: 503 })
  const { body: bytes, ...init } = answer as Required<Answer>
  return new Response([204, 304].includes(init.status) ? null : bytes, init)
}
