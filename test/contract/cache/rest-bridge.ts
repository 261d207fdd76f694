/**
 * Upstash's REST protocol in front of a real Valkey: one command as a JSON list in the body of a POST, or a list of
 * commands at `/pipeline`.
 *
 * @module
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from 'redis'

/** A bridge that listens. */
export interface RestBridge {
  readonly url: string
  readonly token: string
  /** The commands that have been run, in order. */
  readonly commands: readonly (readonly string[])[]
  /** Runs commands, but hangs up instead of answering. */
  mute: boolean
  close(): Promise<void>
}

type Outcome = { readonly result: unknown } | { readonly error: string }

/** Opens a bridge to the server at `valkeyUrl`. */
export async function restBridge(valkeyUrl: string): Promise<RestBridge> {
  const valkey = createClient({ url: valkeyUrl })
  valkey.on('error', () => {})
  await valkey.connect()
  const token = crypto.randomUUID()
  const commands: (readonly string[])[] = []

  const run = async (command: unknown[], base64: boolean): Promise<Outcome> => {
    const words = command.map(String)
    commands.push(words)
    try {
      const reply: unknown = await valkey.sendCommand(words)
      // Status replies are never encoded.
      const encoded = base64 && typeof reply === 'string' && reply !== 'OK'
      return { result: encoded ? Buffer.from(reply).toString('base64') : reply }
    } catch (error) {
      return { error: (error as Error).message }
    }
  }

  const server = createServer(async (request, response) => {
    const send = (status: number, body: unknown) => answer(response, status, body)
    if (request.headers.authorization !== `Bearer ${token}`) {
      return send(401, { error: 'WRONGPASS invalid or missing auth token' })
    }
    const base64 = request.headers['upstash-encoding'] === 'base64'
    const body = await jsonOf(request)
    const isPipeline = request.url === '/pipeline'
    const outcomes: Outcome[] = []
    for (const command of isPipeline ? body : [body]) {
      outcomes.push(await run(command as unknown[], base64))
    }
    if (bridge.mute) return response.destroy()
    return isPipeline ? send(200, outcomes) : sendOne(send, outcomes[0])
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const bridge: RestBridge = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    commands,
    mute: false,
    async close() {
      server.close()
      server.closeAllConnections()
      valkey.destroy()
    },
  }
  return bridge
}

function sendOne(send: (status: number, body: unknown) => void, outcome?: Outcome): void {
  const known = outcome ?? { error: 'ERR empty command' }
  send('error' in known ? 400 : 200, known)
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify(body))
}

async function jsonOf(request: IncomingMessage): Promise<unknown[]> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as unknown[]
}
