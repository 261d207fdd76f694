/**
 * A way to a database that breaks at a chosen message: before the database has it, or when it begins to answer.
 *
 * @module
 */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { Faults, type Kind } from './faults.ts'

/** The failures that a wire has. */
export const WIRE_KINDS = ['refused', 'lost'] as const satisfies readonly Kind[]

export class Wire {
  readonly #server: Server
  #faults: WireFaults | undefined

  constructor(host: string, port: number) {
    this.#server = createServer((client) => this.#join(client, connect(port, host))).listen(
      0,
      '127.0.0.1',
    )
  }

  /** The address `url` of the database, by this way. */
  async urlOf(url: string): Promise<string> {
    if (!this.#server.listening) await once(this.#server, 'listening')
    const way = new URL(url)
    way.hostname = '127.0.0.1'
    way.port = String((this.#server.address() as AddressInfo).port)
    return way.href
  }

  /** The faults of a process that goes this way. */
  faults(): Faults {
    this.#faults = new WireFaults()
    return this.#faults
  }

  close(): void {
    this.#server.close()
  }

  #join(client: Socket, database: Socket): void {
    let isLost = false
    client.on('data', (bytes) => {
      const kind = this.#faults?.meet()
      if (kind === 'refused') client.resetAndDestroy()
      else {
        isLost ||= kind === 'lost'
        database.write(bytes)
      }
    })
    database.on('data', (bytes) => {
      if (isLost) client.resetAndDestroy()
      else client.write(bytes)
    })
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      from.setNoDelay()
      from.on('close', () => to.destroy()).on('error', () => to.destroy())
    }
  }
}

/** Counts messages in place of calls. */
class WireFaults extends Faults {
  #kind: Kind | undefined
  #at = -1

  override arm(kind?: Kind, at = -1): void {
    this.calls = []
    this.#kind = kind
    this.#at = at
    this.isCounting = true
  }

  override disarm(): void {
    this.isCounting = false
  }

  isCounting = false

  override get isArmed(): boolean {
    return this.isCounting
  }

  override around<T extends object>(_: string, target: T): T {
    return target
  }

  /** What is to become of the message that comes now. */
  meet(): Kind | undefined {
    if (!this.isCounting) return undefined
    const at = this.calls.push('message') - 1
    return at === this.#at ? this.#kind : undefined
  }
}
