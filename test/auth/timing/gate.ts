/**
 * The gate: no kind of account may be told by the time of a response. `ROUNDS=2000 SCRYPT=1 npx vitest run
 * test/auth/timing` measures longer, with hashing that costs what it costs by default.
 *
 * @module
 */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { serve } from '../../../adapters/runtimes/node.ts'
import type { Store } from '../../../src/index.ts'
import { subject } from './accounts.ts'
import { measure, type Seen, type Send, TIMED, told } from './measure.ts'

/** Where the accounts are, and how they are asked. */
export interface Opened {
  readonly send: Send
  prepare(): Promise<void>
  restore(): Promise<void>
  close(): Promise<void>
}

const ROUNDS = Number(process.env.ROUNDS ?? 500)
/** How far from 0.5 the AUC of a kind may be. */
const FAR = 0.05

function isOutside({ auc }: Seen): boolean {
  return Math.abs(auc - 0.5) > FAR
}

/** The tests of each route over the store that `open` opens. */
export function gate(store: string, open: () => Promise<Opened>): void {
  let opened: Opened
  beforeAll(async () => {
    opened = await open()
    await opened.prepare()
  })
  afterAll(() => opened.close())

  it.each(TIMED)(
    `the time of $path tells nothing on ${store}`,
    { timeout: 600_000 },
    async (route) => {
      const once = () => measure(route, opened.send, ROUNDS, opened.restore)
      const rows = await once()
      console.log([store, ...rows.map(told)].join('\n'))
      const outside = rows.filter(isOutside)
      if (outside.length === 0) return
      // Noise comes from outside and goes; what tells something tells it again.
      const again = await once()
      console.log([`${store}, again`, ...again.map(told)].join('\n'))
      const kinds = outside.map(({ kind }) => kind)
      const still = again.filter((row) => kinds.includes(row.kind) && isOutside(row))
      expect(still.map(told)).toEqual([])
    },
  )
}

/** The accounts over `store`, in this process behind a server, as an attacker on the same machine sees them. */
export async function served(store: Store): Promise<Opened> {
  const { app, prepare, restore } = subject(store, process.env.SCRYPT !== undefined)
  const { url, close } = await serve(app, { port: 0, hostname: '127.0.0.1', trustProxy: 1 })
  return {
    prepare,
    restore,
    async send(path, body, client) {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': client }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await fetch(new URL(`/auth/${path}`, url), init)
      return { status: response.status, text: await response.text() }
    },
    close,
  }
}
