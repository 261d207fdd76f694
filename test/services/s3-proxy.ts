/**
 * A proxy in front of an S3 server that fails as it is told to.
 *
 * @module
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** How the storage fails. */
export type S3Fault = keyof typeof faults

/** The proxy, which passes everything on at first. */
export interface S3Proxy {
  /** The endpoint, without a slash at the end. */
  readonly url: string
  /** What happens to the requests from now on. A list: one of them for each request, by chance. */
  become(next: 'well' | S3Fault | readonly S3Fault[]): void
  stop(): void
}

interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  /** Passes the request on; `change` may spoil the response. */
  pass(change?: (reply: IncomingMessage) => void): void
}

/** What a captive portal answers, whatever it is asked. */
const PORTAL = '<!doctype html><title>Welcome</title><p>Sign in to use this network.</p>'

/** What happens to one request. */
const faults = {
  down: ({ incoming }) => void incoming.socket.destroy(),
  silent: () => {},
  busy: answer(503, '<Error><Code>SlowDown</Code></Error>'),
  refusing: answer(403, '<Error><Code>AccessDenied</Code></Error>'),
  garbage: answer(500, '\0\xff not XML'),
  resetting({ incoming }) {
    const reset = () => void incoming.socket.resetAndDestroy()
    incoming.once('data', reset).once('end', reset)
  },
  // The object has been stored, but nobody hears of it.
  dropping: ({ incoming, pass }) => pass(() => incoming.socket.resetAndDestroy()),
  // No fault: the tag of an encrypted object is not the MD5 of what was sent.
  encrypting: ({ pass }) =>
    pass((reply) => {
      if (reply.headers.etag) reply.headers.etag = `"${'fedcba9876543210'.repeat(2)}"`
    }),
  slow: ({ pass }) => void delay(500).then(() => pass()),
  redirecting({ incoming, outgoing }) {
    if (incoming.url === '/portal') outgoing.end(PORTAL)
    else outgoing.writeHead(307, { location: '/portal' }).end()
  },
  portal: answer(200, PORTAL, { 'content-type': 'text/html', etag: '"welcome"' }),
  // The bytes are taken, and nothing is stored.
  swallowing({ incoming, outgoing, pass }) {
    if (incoming.method === 'PUT') incoming.resume().once('end', () => outgoing.end())
    else pass()
  },
  // As one that has stored other bytes.
  mistaken: ({ incoming, pass }) =>
    pass((reply) => {
      if (incoming.method === 'PUT') reply.headers.etag = `"${'0123456789abcdef'.repeat(2)}"`
    }),
  // Nothing can be stored, nor removed.
  hoarding({ incoming, outgoing, pass }) {
    if (incoming.method === 'PUT') pass(() => incoming.socket.resetAndDestroy())
    else if (incoming.method === 'DELETE') outgoing.writeHead(403).end()
    else pass()
  },
} satisfies Record<string, (exchange: Exchange) => void>

/** Every fault. */
export const s3Faults = Object.keys(faults) as readonly S3Fault[]

/** A proxy in front of the server at `origin`. */
export async function s3Proxy(origin: string): Promise<S3Proxy> {
  let fault: 'well' | S3Fault | readonly S3Fault[] = 'well'
  const server = createServer((incoming, outgoing) => {
    const pass: Exchange['pass'] = (change = () => {}) => {
      const { method, headers, url = '/' } = incoming
      const forwarded = request(new URL(url, origin), { method, headers }, (reply) => {
        change(reply)
        if (incoming.socket.destroyed) return void reply.destroy()
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
        reply.pipe(outgoing)
      })
      forwarded.on('error', () => outgoing.destroy())
      incoming.pipe(forwarded)
    }
    const now = Array.isArray(fault) ? fault[Math.floor(Math.random() * fault.length)] : fault
    if (now === 'well') pass()
    else faults[now as S3Fault]({ incoming, outgoing, pass })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    become(next) {
      fault = next
      if (next === 'down') server.closeAllConnections()
    },
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function answer(status: number, body: string, headers: Record<string, string> = {}) {
  return ({ incoming, outgoing }: Exchange): void => {
    incoming.resume()
    outgoing.writeHead(status, headers).end(body)
  }
}
