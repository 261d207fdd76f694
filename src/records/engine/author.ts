/** The log of changes: who writes what it notes, and what it holds of records. */

import type { ApiRequest } from '../../http/request/request.ts'
import type { Model } from '../../model/model.ts'
import { underCurrentNames } from '../../model/versions/upgrade.ts'
import type { ChangeLog, LoggedChange, NotedChange } from '../../ports/store/changes.ts'
import type { Fields } from '../../ports/store/records.ts'

/** Who writes what is written for a request, as its guards have found out by then. */
export class Author {
  readonly #request: () => Pick<ApiRequest, 'auth'> | undefined
  #changes: readonly NotedChange[] = []

  constructor(request: () => Pick<ApiRequest, 'auth'> | undefined) {
    this.#request = request
  }

  /** A user's id, `key:<id>` for an API key; null if nobody is signed in. */
  get by(): string | null {
    const { userId, claims = {} } = this.#request()?.auth ?? {}
    // A key's claims are no token's.
    const { key, iat } = claims
    return typeof key === 'string' && iat === undefined ? `key:${key}` : (userId ?? null)
  }

  /** Told of what a write has added to the log. */
  noted(changes: readonly NotedChange[]): void {
    this.#changes = changes
  }

  /** `Change-Id` with the position of what was last written to the record with this id; empty if nothing was. */
  headers(model: string, id: unknown): Record<string, string> {
    const own = this.#changes.findLast((one) => one.model === model && one.record === id)
    return own ? { 'Change-Id': own.id } : {}
  }

  /** The position of the last entry of the last write. */
  get last(): string | undefined {
    return this.#changes.at(-1)?.id
  }
}

/** The log of an app: start-up has made sure that there is one where its records are followed or told of. */
export function logOf({ changes }: { readonly changes: ChangeLog | undefined }): ChangeLog {
  if (!changes) throw new TypeError('the store keeps no log of changes')
  return changes
}

/** `log`, whose records are as they are stored, under the current names of their fields: scopes go by that, as lists do. */
export function modelChanges(
  log: ChangeLog,
  modelNamed: (name: string) => Model | undefined,
): ChangeLog {
  const shown = (change: LoggedChange) => underCurrent(change, modelNamed(change.model))
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

/** `change` with the current names of the fields of its `model`. */
export function underCurrent(change: LoggedChange, model: Model | undefined): LoggedChange {
  const renamed = model?.renamed
  if (!renamed?.size) return change
  const part = (record: Fields | null) => record && underCurrentNames(record, renamed)
  return { ...change, before: part(change.before), after: part(change.after) }
}
