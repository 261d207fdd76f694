/**
 * An S3 server as strict as R2 and Backblaze have been: in front of a real one, refusing the checksum headers and
 * the chunked bodies that the AWS SDK sends unless it is told not to.
 *
 * @module
 */

import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A strict server. */
export interface Strict {
  readonly url: string
  /** The headers that it has refused. */
  readonly refused: readonly string[]
  stop(): Promise<void>
}

const UNKNOWN = /^x-amz-(?:checksum|sdk-checksum|trailer|decoded)/

/** Puts strictness in front of the server at `origin`. */
export async function strict(origin: string): Promise<Strict> {
  const refused: string[] = []
  const server = createServer((incoming, outgoing) => {
    const unknown = Object.keys(incoming.headers).filter((name) => UNKNOWN.test(name))
    if (incoming.headers['content-encoding']?.includes('aws-chunked')) unknown.push('aws-chunked')
    if (incoming.method === 'PUT' && !incoming.headers['content-length']) unknown.push('no length')
    if (unknown.length > 0) {
      refused.push(...unknown)
      outgoing.writeHead(501).end('<Error><Code>NotImplemented</Code></Error>')
      return
    }
    const { method, headers, url = '/' } = incoming
    const forwarded = request(new URL(url, origin), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused,
    async stop() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}
