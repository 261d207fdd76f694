/** Runs what an app does beside its requests. `serve` and `worker` do so themselves. */

import type { App } from '../app/app.ts'
import { settledAll } from '../ports/promises/settled-all.ts'

/** The jobs, consumers and webhooks of an app, running. */
export interface RunningBackground {
  /**
   * Takes nothing new, and resolves when what runs has ended. After `waitMs` milliseconds (default 25,000) the signals of
   * what still runs abort. What goes on for 15 seconds more is left behind, with a warning in the log.
   */
  close(waitMs?: number): Promise<void>
}

/** What these functions need of an app: one that you have put together by hand may have nothing to run. */
type Backed = Pick<App, 'ready'> & Partial<Pick<App, 'background'>>

/**
 * Runs the jobs, consumers and webhooks of `app` in this process, until you close what it resolves to, or the app. For
 * processes that serve no requests, and for servers other than those of `serve`, which does it itself.
 *
 * ```ts
 * import { runBackground } from 'fieldgate/jobs'
 * const running = await runBackground(app)
 * ```
 */
export async function runBackground({
  ready,
  background = [],
}: Backed): Promise<RunningBackground> {
  await ready()
  for (const work of background) work.start()
  return {
    close: async (waitMs) => void (await Promise.all(background.map((work) => work.close(waitMs)))),
  }
}

/**
 * Does what is due of the jobs, consumers and webhooks of `app`, and resolves when it is done. For platforms that call your
 * code from time to time and keep no process; Workers need no call, because `worker` exports `scheduled`.
 *
 * ```ts
 * import { runDue } from 'fieldgate/jobs'
 * await runDue(app)
 * ```
 */
export async function runDue({ ready, background = [] }: Backed): Promise<void> {
  await ready()
  await settledAll(background.map((work) => work.runDue()))
}
