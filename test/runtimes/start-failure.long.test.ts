import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { RUNTIMES } from './commands.ts'

const fixture = fileURLToPath(new URL('unreachable-fixture.ts', import.meta.url))
const SENTENCE = 'StoreUnavailable: The app did not start: the database cannot be reached: '

it.concurrent.each(Object.keys(RUNTIMES))(
  'serve on %s without its database ends the program with a sentence that says why, and keeps the cause',
  async (runtime) => {
    const [command = '', ...args] = RUNTIMES[runtime] ?? []
    const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined }
    const program = spawn(command, [...args, fixture], { env })
    const ended = once(program, 'close')
    const [out, err] = await Promise.all([text(program.stdout), text(program.stderr)])
    expect(await ended).toEqual([1, null])
    expect(err).toContain(`${SENTENCE}connect ECONNREFUSED 127.0.0.1:1\n`)
    expect(out).toBe('the cause is there\n')
    // Deno and Bun print every cause; on Node one can see the sentence.
    if (runtime === 'node') expect(err.split('\n').length).toBeLessThan(20)
  },
)
