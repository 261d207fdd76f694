import { fork } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startWorkers } from '../../adapters/runtimes/processes/first.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp } from '../../src/index.ts'

/** A worker that dies as soon as it serves. */
const DYING = `process.send({ fieldgate: { url: 'http://127.0.0.1:1' } }, () => process.exit(3))`

it('replaces workers that keep dying ever more slowly, and says so each time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-dying-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const program = join(folder, 'dying.cjs')
  await writeFile(program, DYING)
  const starts: number[] = []
  const errors: string[] = []
  const quiet = { debug() {}, info() {}, warn() {}, error: (text: string) => errors.push(text) }
  const app = createApp({ store: sqliteStore(), logger: quiet })
  const { end } = await startWorkers(app, 1, () => {
    starts.push(performance.now())
    return fork(program)
  })
  await expect.poll(() => starts.length).toBeGreaterThanOrEqual(5)
  await end(10_000)
  await app.close()
  const pauses = starts.slice(1).map((at, index) => at - (starts[index] ?? 0))
  const least = [100, 200, 400, 800]
  for (const [index, ms] of least.entries()) {
    // Timers may be a millisecond early.
    expect(pauses[index]).toBeGreaterThan(ms - 2)
  }
  expect(errors[0]).toBe('A process of the server has ended (exit code 3).')
  expect(errors.length).toBeGreaterThanOrEqual(4)
})
