/** What happened to a record, and its restore. It is loaded when it is used. */

import type { CallOptions, WriteOptions } from '../sending/call-options.ts'
import type { Given } from '../sending/given.ts'
import type { Result } from '../sending/results.ts'

/** One change of a record; `changes` has what the reader may see. */
export interface RecordChange<R = Readonly<Record<string, unknown>>> {
  /** What `restore` takes. */
  readonly id: string
  readonly at: string
  /** A user's id, `key:<id>` for an API key, null if nobody was signed in. */
  readonly by: string | null
  readonly kind: 'created' | 'updated' | 'removed'
  readonly changes: {
    readonly [K in keyof R]?: { readonly from: R[K] | null; readonly to: R[K] | null }
  }
}

/** How a history is paged. */
export interface HistoryPage {
  readonly pageSize: number
  readonly hasMore: boolean
  readonly nextCursor: string | null
}

/** Which part of a history is read. */
export interface HistoryOptions extends CallOptions {
  readonly cursor?: string | undefined
  readonly pageSize?: number
}

export async function historyOf(
  at: string,
  [id, { cursor, pageSize, ...options } = {}]: [string, HistoryOptions?],
  { call, send, json, inPath }: Given,
): Promise<Result<unknown, object>> {
  const query = `${new URLSearchParams(JSON.parse(json({ cursor, pageSize })))}`
  const path = `${at}/${inPath(id)}/history${query && `?${query}`}`
  return send.shown(await call.ask({ ...options, method: 'GET', path }), true)
}

export function restored(
  at: string,
  [id, changeId, options]: [string, string, WriteOptions?],
  { call, send, json, inPath }: Given,
): Promise<Result<unknown, object>> {
  return send.one('POST', `${at}/${inPath(id)}/restore`, json({ changeId }), options, call)
}
