/**
 * A receiver of webhooks on this machine.
 *
 * @module
 */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

/** A webhook as it arrived, verified. */
export interface Received {
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: {
    readonly type: string
    readonly timestamp: string
    readonly data: { readonly _id: string; readonly [field: string]: unknown }
  }
  /** The status that it got. */
  readonly status: number
}

/** A running receiver. */
export interface Receiver {
  readonly url: string
  /** What has arrived with a valid signature, in order. */
  readonly received: Received[]
  /** How many signatures were not valid. */
  readonly invalid: { count: number }
  stop(): Promise<void>
  /** Starts again on the same port. */
  start(): Promise<void>
}

/** Receives webhooks that are signed with `secret`, and responds to each with what `statusOf` returns; 0 for never. */
export async function receiver(
  secret: string,
  statusOf: (received: Omit<Received, 'status'>) => number = () => 200,
): Promise<Receiver> {
  const received: Received[] = []
  const invalid = { count: 0 }
  const webhook = new Webhook(secret)
  let port = 0
  let server: Server | undefined
  const listen = async () => {
    server = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk) => {
        text += chunk
      })
      request.on('end', () => {
        const headers = request.headers as Record<string, string>
        try {
          const body = webhook.verify(text, headers) as Received['body']
          const one = { id: String(headers['webhook-id']), headers, body }
          const status = statusOf(one)
          received.push({ ...one, status })
          if (status === 0) return
          response.writeHead(status, { location: 'http://127.0.0.1:1/elsewhere' }).end('{}')
        } catch {
          invalid.count += 1
          response.writeHead(401).end()
        }
      })
    })
    const listening = server
    await new Promise<void>((resolve) => listening.listen(port, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  }
  await listen()
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    invalid,
    async stop() {
      const closing = server
      closing?.closeAllConnections()
      await new Promise((resolve) => closing?.close(resolve))
    },
    start: listen,
  }
}
