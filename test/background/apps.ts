/**
 * Several apps on one database, as the processes of a server are, with one clock.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { runDue } from '../../src/background/changes/index.ts'
import { type App, type AppOptions, createApp, type Store } from '../../src/index.ts'
import { type RecordedLog, recordedLog } from '../records/service.ts'

export interface Apps {
  readonly clock: { at: number }
  readonly log: RecordedLog
  /** One more app on the database, closed with the test. */
  app(options?: Partial<AppOptions>): App
}

/** Apps whose clock begins at `from`. */
export function apps(from: string, open: () => Store = shared()): Apps {
  const clock = { at: Date.parse(from) }
  const log = recordedLog()
  return {
    clock,
    log,
    app(options = {}) {
      const app = createApp({
        store: open(),
        logger: log,
        now: () => clock.at,
        env: {},
        ...options,
      })
      onTestFinished(() => app.close())
      return app
    },
  }
}

/** Runs what is due, again and again, and expects something of the number of `calls` that were made. */
export function callsWhileDue(app: App, calls: readonly unknown[]) {
  const count = async () => {
    await runDue(app)
    return calls.length
  }
  return expect.poll(count, { timeout: 10_000 })
}

/** Opens one database again and again. */
function shared(): () => Store {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-apps-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return () => sqliteStore({ path: join(folder, 'apps.db') })
}
