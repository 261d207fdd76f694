/** Who writes records whose changes are logged, and what the log has noted of it. */

import type { ApiRequest } from '../../http/request.ts'
import type { NotedChange } from '../../ports/changes.ts'

/** Somebody who writes. */
export interface Author {
  /** A user's id, `key:<id>` for an API key; null if nobody is signed in. */
  readonly by: string | null
  /** Told of what a write has added to the log. */
  noted(changes: readonly NotedChange[]): void
}

/** The author of what is written for `request`, as its guards have found out by then. */
export class RequestAuthor implements Author {
  readonly #request: () => Pick<ApiRequest, 'auth'> | undefined
  #changes: readonly NotedChange[] = []

  constructor(request: () => Pick<ApiRequest, 'auth'> | undefined) {
    this.#request = request
  }

  get by(): string | null {
    const { userId, claims = {} } = this.#request()?.auth ?? {}
    // A key's claims are no token's.
    const { key, iat } = claims
    return typeof key === 'string' && iat === undefined ? `key:${key}` : (userId ?? null)
  }

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
