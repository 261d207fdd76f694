import { describe, expect, it } from 'vitest'
import { RUNTIMES } from './commands.ts'
import { start } from './server.ts'

const FIXTURE = 'rejection-fixture.ts'

describe.each(Object.keys(RUNTIMES))('work that fails on %s', (runtime) => {
  it('is logged where context.waitUntil has it, and the server goes on', async () => {
    const { url, lines, signal, ended } = await start(runtime, {}, FIXTURE)
    expect((await fetch(`${url}/notes/awaited`)).status).toBe(200)
    expect((await fetch(`${url}/notes/awaited`)).status).toBe(200)
    signal('SIGTERM')
    expect(await ended()).toBe(0)
    expect(lines.filter((line) => line === 'logged background work failed')).toHaveLength(2)
  })

  it.each(['floating', 'timer'])('ends the process where nobody has it: %s', async (path) => {
    const { url, ended } = await start(runtime, {}, FIXTURE)
    // The response may be lost with everything else.
    await fetch(`${url}/notes/${path}`).catch(() => {})
    expect(await ended()).toBe(1)
  })
})
