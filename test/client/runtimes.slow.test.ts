import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { bundled } from '../http/workerd.ts'
import { runs } from '../runs.ts'
import { FROM_SOURCE } from '../runtimes/commands.ts'
import { served } from './app.ts'
import { JOURNEY } from './journey.ts'

const run = promisify(execFile)
const bin = (name: string) => join(import.meta.dirname, '../../node_modules/.bin', name)
const program = join(import.meta.dirname, 'journey-main.ts')

let server: Awaited<ReturnType<typeof served>>
beforeAll(async () => {
  server = await served()
})
afterAll(() => server?.close())
beforeEach(() => {
  server.watched.seen.length = 0
  server.watched.guard = ({ url }) => {
    if (url.endsWith('/countries')) server.watched.now += 70_000
  }
})

const model = join(import.meta.dirname, 'model-main.ts')
const refreshes = () => server.watched.seen.filter((one) => one.includes('refresh')).length

describe('the client signs in, refreshes, reads and writes', () => {
  it.each([
    ['Node', [process.execPath, '--no-warnings', FROM_SOURCE]],
    ['Deno', [bin('deno'), 'run', FROM_SOURCE, '--allow-net', '--no-lock']],
    ['Bun', [bin('bun'), FROM_SOURCE]],
  ])('on %s', async (_, [command = '', ...flags]) => {
    const { stdout } = await run(command, [...flags, program, server.url])
    expect(JSON.parse(stdout)).toEqual(JOURNEY)
    expect(refreshes()).toBe(1)
  })

  it('on workerd', async () => {
    const options = {
      modules: true,
      script: await bundled(new URL('./journey-worker.ts', import.meta.url)),
      compatibilityDate: '2026-11-01',
      host: '127.0.0.1',
      port: 0,
      bindings: { URL: server.url },
    }
    const worker = new Miniflare(
      convertV4MiniflareOptions(options as Parameters<typeof convertV4MiniflareOptions>[0]),
    )
    onTestFinished(() => worker.dispose())
    const response = await fetch((await worker.ready).origin)
    expect(await response.json()).toEqual(JOURNEY)
    expect(refreshes()).toBe(1)
  })
})

describe('sessions in any order of events', () => {
  it.each([
    ['Node', [process.execPath, '--no-warnings', FROM_SOURCE]],
    ['Deno, which has Web Locks', [bin('deno'), 'run', FROM_SOURCE, '--no-lock']],
    ['Bun', [bin('bun'), FROM_SOURCE]],
  ])('keep to theirs on %s', async (_, [command = '', ...flags]) => {
    const { stdout } = await run(command, [...flags, model, String(runs(10))])
    expect(JSON.parse(stdout)).toEqual([])
  })
})
