/**
 * `fieldgate/backfill`: a backfill where no command can open the records.
 *
 * @module
 */

import { hostOf } from '../records/engine/host.ts'
import { backfillRecords } from '../upkeep/changes/backfill.ts'
import { tableOf } from '../upkeep/check/table.ts'
import type { App } from './app.ts'

/**
 * Does at start-up, before the first request is served, what `fieldgate backfill` does, for models that have changed since
 * their records were stored: it stores values under the current names of fields, converted values and defaults, and drops
 * indexes that no model declares any more. It is for records that one process serves, as those of a Durable Object, where
 * no command can run: no earlier version of the app may use them meanwhile. If it is interrupted, the next start continues
 * where it stopped. Records that can't be made to fit are named in the log, and looked at again at the next start.
 *
 * ```ts
 * import { backfillAtStart } from 'fieldgate/backfill'
 * backfillAtStart(app)
 * ```
 */
export function backfillAtStart(app: App): void {
  const { database, history, known, logger, onReady, schemas, stored } = hostOf(
    app?.store,
    'backfillAtStart(app)',
  )
  onReady(async () => {
    await database.prepare(schemas())
    const changed = await history.changed(known(), stored)
    const models = changed.map(({ model }) => model)
    const done = await backfillRecords({ models, stored, history, database, schemas })
    for (const { model, records, changed } of done.models) {
      logger.info(`Model '${model}': ${changed} of ${records} records changed by the backfill`)
    }
    if (!done.ok) logger.warn(`The backfill could not make these fit:\n${tableOf(done.problems)}`)
  })
}
