/** The virtuals of a schema: no response has them, and their setters do not run. */

import type { Report } from './report.ts'
import type { SchemaParts, Virtual } from './structure.ts'

/** Reports the virtuals of a schema; `showsAll` says whether its JSON has them. `path` is that of a subdocument. */
export function reportVirtuals(
  { virtuals, aliases = {} }: SchemaParts,
  path: string,
  report: Report,
  showsAll: boolean,
): void {
  for (const [name, virtual] of Object.entries(virtuals)) {
    if (Object.hasOwn(aliases, name)) continue
    const at = path === '' ? name : `${path}.${name}`
    // Every schema has it, and responses leave it out unless told otherwise.
    if (name !== 'id') reportVirtual(virtual, at, report)
    else if (showsAll) report.add(at, 'virtual', UNSHOWN)
  }
}

const UNSHOWN = 'not in responses: use `output`'

function reportVirtual(
  { options = {}, setters = [], getters = [] }: Virtual,
  path: string,
  report: Report,
): void {
  if ((options.ref ?? options.localField) !== undefined) {
    const note = 'clients filter the list of the other model, or use an extra route'
    report.add(path, 'virtual', `not in responses: ${note}`)
    return
  }
  if (getters.length > 0) report.add(path, 'virtual', UNSHOWN)
  if (setters.length === 0) return
  const note =
    'its setter does not run, and a value that is sent for it is dropped: a password is not stored'
  report.add(path, 'virtual', `${note}. Use an extra route`, true)
}
