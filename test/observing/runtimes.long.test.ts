import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { describe, expect, it } from 'vitest'
import { bundled } from '../http/workerd.ts'
import { RUNTIMES } from '../runtimes/commands.ts'

const fixture = fileURLToPath(new URL('slow-fixture.ts', import.meta.url))

/** The ids that a Worker's log names, with the compatibility of this date. */
async function onWorkers(compatibilityDate: string): Promise<unknown> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: await bundled(new URL('slow-worker.ts', import.meta.url)),
      compatibilityDate,
      d1Databases: ['DB'],
      host: '127.0.0.1',
      port: 0,
    }),
  )
  try {
    return await (await miniflare.dispatchFetch('http://localhost/')).json()
  } finally {
    await miniflare.dispose()
  }
}

describe('a slow call of the store', () => {
  it.each(Object.keys(RUNTIMES))('names its own request on %s', async (runtime) => {
    const [command = '', ...args] = RUNTIMES[runtime] ?? []
    const { stdout } = await promisify(execFile)(command, [...args, fixture])
    expect(JSON.parse(stdout)).toEqual(['one', 'two'])
  })

  it('names its own request on Workers', async () => {
    expect(await onWorkers('2026-11-01')).toEqual(['one', 'two'])
  })

  it('is logged without ids on Workers that are too old for it', async () => {
    expect(await onWorkers('2024-09-01')).toEqual(['none', 'none'])
  })
})
