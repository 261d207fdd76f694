/**
 * The gate: no kind of account may be told by the time of a response. What each kind costs is counted in `costs.slow.test.ts`;
 * this is what an attacker's own clock shows, with few requests. `FIELDGATE_RUNS=20 SCRYPT=1 npx vitest run
 * test/auth/timing` measures 160 for each kind and store, with hashing that costs what it costs by default.
 *
 * @module
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serve } from '../../../adapters/runtimes/node.ts'
import type { Store } from '../../../src/index.ts'
import { runs } from '../../runs.ts'
import { lightHashing, subject } from './accounts.ts'
import { line, measure, type Seen, type Send, TIMED } from './measure.ts'

/** Where the accounts are, and how they are asked. */
export interface Opened {
  readonly send: Send
  prepare(): Promise<void>
  restore(): Promise<void>
  close(): Promise<void>
}

const ROUNDS = runs(8)
/**
 * How far from 0.5 the AUC of a kind may be: beyond what chance gives in one of 200 measurements of so few times, and
 * never less than 0.05.
 */
const FAR = Math.max(0.05, 2.8 * Math.sqrt((2 * ROUNDS + 1) / (12 * ROUNDS ** 2)))
/** A kind is told if this many measurements, one after the other, tell it. */
const MEASUREMENTS = 3

function isOutside({ auc }: Seen): boolean {
  return Math.abs(auc - 0.5) > FAR
}

/** The tests of each route over the store that `open` opens. */
export function gate(store: string, open: () => Promise<Opened>): void {
  describe(`the time of an answer on ${store}`, () => {
    let opened: Opened
    beforeAll(async () => {
      opened = await open()
      await opened.prepare()
    })
    afterAll(() => opened.close())

    it.each(TIMED)(
      'tells no account apart: POST /auth/$path',
      { timeout: 600_000 },
      async (route) => {
        // Noise comes from outside and goes; what tells something tells it again.
        let told: readonly Seen[] = []
        for (let measured = 0; measured < MEASUREMENTS; measured += 1) {
          const rows = await measure(route, opened.send, ROUNDS, opened.restore)
          console.log([store, ...rows.map(line)].join('\n'))
          const before = told.map(({ kind }) => kind)
          told = rows.filter(
            (row) => isOutside(row) && (measured === 0 || before.includes(row.kind)),
          )
          if (told.length === 0) return
        }
        expect(told.map(line)).toEqual([])
      },
    )
  })
}

/** The accounts over `store`, in this process behind a server, as an attacker on the same machine sees them. */
export async function served(store: Store): Promise<Opened> {
  const { app, prepare, restore } = subject(
    store,
    process.env.SCRYPT === undefined ? lightHashing : {},
  )
  const { url, close } = await serve(app, { port: 0, hostname: '127.0.0.1', trustProxy: 1 })
  return {
    prepare,
    restore,
    async send(path, body, client, token) {
      const headers = {
        ...{ 'content-type': 'application/json', 'x-forwarded-for': client },
        ...(token && { authorization: `Bearer ${token}` }),
      }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await fetch(new URL(`/auth/${path}`, url), init)
      return { status: response.status, text: await response.text() }
    },
    close,
  }
}
