import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { seeds } from '../../runs.ts'
import { start } from '../server.ts'
import { Wire } from './run.ts'

interface Tally {
  readonly labels: readonly string[]
  readonly errors: readonly unknown[]
  readonly open: number
}

/** The clients wait for each other: what they are late with is no fault of theirs. */
const PATIENT = { keepAliveTimeout: 120_000, headersTimeout: 120_000 }

describe.each([
  ['node', 'node', 6, PATIENT],
  ['node:http', 'node', 6, { ...PATIENT, express: true }],
  ['deno', 'deno', 6, {}],
  // It closes connections whose clients send another request before they have their response (1.4).
  ['bun', 'bun', 1, { sendTimeout: 120_000 }],
])('connections to %s', (name, runtime, most, options) => {
  it.each(seeds(name === 'node' ? 3 : 1))(
    'each request has its response, however it comes (seed %i)',
    async (seed) => {
      const root = await mkdtemp(join(tmpdir(), 'fieldgate-wire-'))
      onTestFinished(() => rm(root, { recursive: true, force: true }))
      const { url, lines } = await start(runtime, { root, ...options }, 'wire/fixture.ts')
      const file = lines.find((line) => line.startsWith('file '))?.slice(5) ?? ''
      const port = Number(new URL(url).port)
      const wire = new Wire(seed, { port, file, isOwn: name === 'node', most })
      for (let round = 0; round < 20; round += 1) await wire.round(12)
      const tally = async () => (await (await fetch(`${url}/tally`)).json()) as Tally
      await expect.poll(async () => (await tally()).open).toBe(0)
      const { labels, errors } = await tally()
      for (const [label, fate] of wire.fates) {
        const found = labels.filter((one) => one === label).length
        const wanted = fate === 'stored' ? 1 : fate === 'never' ? 0 : Math.min(found, 1)
        expect([label, fate, found]).toEqual([label, fate, wanted])
      }
      expect(errors).toEqual([])
    },
  )
})
