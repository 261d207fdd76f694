/**
 * Requests to servers that users name, on runtimes with sockets.
 *
 * @module
 */

import { lookup } from 'node:dns/promises'
import { Agent, type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps, Agent as TlsAgent } from 'node:https'
import type { LookupFunction } from 'node:net'

/** A request to send. */
interface Outbound {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
  readonly mayConnect: ((address: string) => boolean) | undefined
}

const settings = { keepAlive: true, maxSockets: 100, scheduling: 'lifo' } as const
/** Connections to addresses that were judged are not shared with those to any address. */
const agents = {
  judged: { 'http:': new Agent(settings), 'https:': new TlsAgent(settings) },
  free: { 'http:': new Agent(settings), 'https:': new TlsAgent(settings) },
}

/** How much of a response is read, so that the connection can be used again. */
const MAX_READ = 65_536

/**
 * Sends a POST and resolves to the status of its response. Follows no redirects. Connects only to addresses that
 * `mayConnect` lets through: those that are judged are the ones that are connected to, whatever the name leads to later.
 */
export async function post(url: URL, outbound: Outbound): Promise<number> {
  const { headers, body, signal, mayConnect } = outbound
  const name = url.hostname.replace(/^\[|\]$/g, '')
  const found = await lookup(name, { all: true })
  signal.throwIfAborted()
  if (mayConnect && !found.every(({ address }) => mayConnect(address))) {
    throw new Error(`'${url.hostname}' leads to an address that is not public`)
  }
  const given: LookupFunction = (_, options, done) => {
    const [first] = found
    if (options.all) done(null, found)
    else done(null, first?.address ?? '', first?.family)
  }
  const protocol = url.protocol === 'https:' ? 'https:' : 'http:'
  const options: RequestOptions = {
    ...{ method: 'POST', host: name, port: url.port, path: url.pathname + url.search, signal },
    headers: { ...headers, 'content-length': new TextEncoder().encode(body).length },
    agent: agents[mayConnect ? 'judged' : 'free'][protocol],
    lookup: given,
  }
  return new Promise((resolve, reject) => {
    const send = protocol === 'https:' ? requestHttps : requestHttp
    const request = send(options, (response) => {
      let read = 0
      response.on('data', (chunk: Uint8Array) => {
        read += chunk.length
        if (read > MAX_READ) request.destroy()
      })
      response.on('error', () => {})
      resolve(response.statusCode ?? 0)
    })
    request.on('error', reject)
    // After a 101, Node closes the connection and says nothing else.
    request.on('upgrade', (response, socket) => {
      socket.destroy()
      resolve(response.statusCode ?? 0)
    })
    request.end(body)
  })
}
