import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
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
  ['node', 'node', 6, { ...PATIENT, graceMs: 5000 }],
  ['node:http', 'node', 6, { ...PATIENT, express: true }],
  // It writes `100 Continue` for the next request into the body of a response (2.9).
  ['deno', 'deno', 1, { graceMs: 5000 }],
  // It closes connections whose clients send another request before they have their response (1.4).
  ['bun', 'bun', 1, { sendTimeout: 120_000, graceMs: 5000 }],
])('connections to %s', (name, runtime, most, options) => {
  const some = seeds(name === 'node' ? 3 : 1)

  /** Starts the server on the files in `root`, and clients of it. */
  async function begin(root: string, seed: number) {
    const fixture = await start(runtime, { root, ...options }, 'wire/fixture.ts')
    const file = fixture.lines.find((line) => line.startsWith('file '))?.slice(5) ?? ''
    const port = Number(new URL(fixture.url).port)
    const wire = new Wire(seed, { port, file, isOwn: name === 'node', most })
    const tally = async () => (await (await fetch(`${fixture.url}/tally`)).json()) as Tally
    return { ...fixture, wire, tally }
  }

  it.each(some)('each request has its response, however it comes (seed %i)', async (seed) => {
    const { wire, tally } = await begin(await folder(), seed)
    for (let round = 0; round < 20; round += 1) await wire.round(12)
    await expect.poll(async () => (await tally()).open).toBe(0)
    const { labels, errors } = await tally()
    expectFates(wire, labels)
    expect(errors).toEqual([])
  })

  it.each(some)('a server that closes finishes what it has begun (seed %i)', async (seed) => {
    const root = await folder()
    const { wire, tell, said, lines } = await begin(root, seed)
    await wire.round(12)
    wire.isClosing = true
    const close = async () => {
      await sleep((seed % 5) * 37)
      tell('close')
      await said('closed')
    }
    const began = performance.now()
    await Promise.all([close(), wire.round(24)])
    expect(performance.now() - began).toBeLessThan(15_000)
    const errors = JSON.parse(lines.at(-1)?.slice('closed '.length) ?? '') as unknown[][]
    expect(errors.filter(([message]) => message !== 'service unavailable')).toEqual([])
    const { labels } = await (await begin(root, seed)).tally()
    expectFates(wire, labels)
  })
})

async function folder(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'fieldgate-wire-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  return root
}

function expectFates({ fates }: Wire, labels: readonly string[]): void {
  for (const [label, fate] of fates) {
    const found = labels.filter((one) => one === label).length
    const wanted = fate === 'stored' ? 1 : fate === 'never' ? 0 : Math.min(found, 1)
    expect([label, fate, found]).toEqual([label, fate, wanted])
  }
}
