/** What the protocol's conformance suite demands of a server that has tools alone. */

import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { agents } from './server.ts'

const require = createRequire(import.meta.url)
const suite = join(
  dirname(require.resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
)
const compiled = join(import.meta.dirname, '../../.cache/compiled')

/** Runs a scenario; resolves to the last line that counts, and the reasons of failures. */
async function scenario(name: string, version: string): Promise<readonly string[]> {
  const { app } = await agents({ write: ['create', 'update', 'remove'] })
  const server = await serve(app, { port: 0, hostname: '127.0.0.1' })
  onTestFinished(() => server.close())
  const url = new URL('/mcp', server.url).href
  const args = [suite, 'server', '--url', url, '--scenario', name, '--spec-version', version]
  // It is started a dozen times.
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled }
  const run = promisify(execFile)(process.execPath, args, { env })
  const { stdout } = await run.catch((failed: { stdout: string }) => failed)
  return stdout.split('\n').filter((line) => /^Passed:|^\s+Error:/.test(line))
}

it.each([
  ['http-header-validation', '2026-07-28', '14/14'],
  ['tools-list', '2026-07-28', '4/4'],
  ['dns-rebinding-protection', '2026-07-28', '2/2'],
  ['server-initialize', '2025-11-25', '2/2'],
  ['tools-list', '2025-11-25', '3/3'],
  ['ping', '2025-11-25', '2/2'],
  ['dns-rebinding-protection', '2025-11-25', '2/2'],
  ['server-initialize', '2025-06-18', '2/2'],
  ['tools-list', '2025-06-18', '2/2'],
])('passes %s of %s', { timeout: 60_000 }, async (name, version, all) => {
  expect(await scenario(name, version)).toEqual([`Passed: ${all}, 0 failed, 0 warnings`])
})

it('passes what server-stateless can test without tools of its own', async () => {
  const [passed, ...reasons] = await scenario('server-stateless', '2026-07-28')
  expect(passed).toBe('Passed: 21/25, 4 failed, 0 warnings')
  for (const reason of reasons) expect(reason).toContain('Not testable')
}, 60_000)

it('says how long lists of tools may be kept; there are no prompts and resources', async () => {
  const [passed, ...reasons] = await scenario('caching', '2026-07-28')
  expect(passed).toBe('Passed: 4/7, 3 failed, 0 warnings')
  for (const reason of reasons) expect(reason).toMatch(/(?:prompts|resources)\/.+ -32601/)
}, 60_000)
