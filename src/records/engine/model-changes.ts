/** The log of changes as the app's code sees it: with records as `app.store` returns them. */

import type { Model } from '../../model/model.ts'
import { declaredPart } from '../../model/present.ts'
import { underCurrentNames } from '../../model/upgrade.ts'
import type { ChangeLog, LoggedChange } from '../../ports/changes.ts'
import type { Fields } from '../../ports/store.ts'

/** `log`, whose records have what their models declare today, hidden fields included. */
export function modelChanges(
  log: ChangeLog,
  modelNamed: (name: string) => Model | undefined,
): ChangeLog {
  const shown = (change: LoggedChange): LoggedChange => {
    const model = modelNamed(change.model)
    const part = (record: Fields | null) =>
      record && model ? declaredPart(model, underCurrentNames(record, model.renamed)) : record
    return { ...change, before: part(change.before), after: part(change.after) }
  }
  return {
    position: () => log.position(),
    async read(after, options) {
      const read = await log.read(after, options)
      return 'gone' in read ? read : { ...read, changes: read.changes.map(shown) }
    },
    history: async (model, record, options) =>
      (await log.history(model, record, options)).map(shown),
    wake: (listener) => log.wake(listener),
  }
}
