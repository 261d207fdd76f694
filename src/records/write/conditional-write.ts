/**
 * Writes of a record as it was read: they happen only if it is still the same, so that what a hook has judged, or a client
 * has seen (`If-Match`, RFC 9110 13.1.1), is what is written. The store compares in the step of the write.
 */

import { etagOf, ifMatch, isKnownToClient, stateIn } from '../../cache/conditional.ts'
import type { HttpError } from '../../http/errors/errors.ts'
import * as refuse from '../../http/errors/refusals.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import type { Model } from '../../model/model.ts'
import type { Filter } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { contentOf } from '../engine/known-updates.ts'
import type { RecordEngine } from '../engine/record-engine.ts'
import type { Context } from '../engine/route.ts'
import type { Attempt } from '../engine/serial-queue.ts'
import { readRecord } from '../read/read.ts'
import { scopeOf } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'

/** What a record must be at the moment of a write. */
export interface Expected {
  readonly fields: Fields
  /** The error if it has others by then. */
  readonly refusal: HttpError
}

/** A record as it was read, which must be the same at the moment of the write. */
export interface SeenRecord extends Expected {
  readonly record: Fields
}

/** How often a hook judges a record that other requests keep changing. */
export const MAX_JUDGEMENTS = 2

/**
 * The record that the client has seen, by `If-Match`; undefined without that. `*` accepts any existing record, as every write
 * does. Throws a 404, or a 412 if the client has another version than a read would show, or the one that `If-None-Match` names.
 */
export async function recordSeenByClient(
  resource: Resource,
  request: ApiRequest,
  context: Context,
  filter: Filter,
): Promise<SeenRecord | undefined> {
  const { headers } = request
  const tags = ifMatch(headers)
  const isAny = tags === 'any' || tags === 'none'
  if (isAny && !headers.has('if-none-match')) return undefined
  // Read the record before its JSON: a change in between makes the write fail, and never pass.
  const record = await resource.engine.first(filter)
  if (!record) throw refuse.entryNotFound()
  // Outside of the read scope there is no version that the client can have.
  const reads = await scopeOf(resource.model, resource.scope.read, request)
  const isSeen = reads.admits(record)
  if (!isAny && !isSeen) throw refuse.recordChanged()
  const etag = isSeen ? etagOf(await readRecord(resource, request, context)) : ''
  if (isKnownToClient(headers, etag)) throw refuse.excludedVersion()
  if (isAny) return undefined
  // Links that have been signed anew since are not a change.
  const state = stateIn(etag)
  if (!tags.some((tag) => stateIn(tag) === state)) throw refuse.recordChanged()
  return seenAs(resource.model, record, refuse.recordChanged())
}

function seenAs(model: Model, record: Fields, refusal: HttpError): SeenRecord {
  return { record, fields: contentOf(model, record), refusal }
}

/**
 * Calls `write` with the record that is `known`. If there is none, reads the one that matches first; if that has changed
 * meanwhile, so that `write` throws the refusal of what it gets, both are done again, `maxTries` times in all. Throws a 404,
 * or after the last time a 409.
 */
export async function writeAsSeen<T>(
  engine: RecordEngine,
  filter: Filter,
  known: SeenRecord | undefined,
  maxTries: number,
  write: (seen: SeenRecord) => Promise<T>,
): Promise<T> {
  if (known) return write(known)
  const overtaken = refuse.changedMeanwhile()
  const written = await engine.judging.retry(maxTries, async (awaited): Promise<Attempt<T>> => {
    const record = await engine.first(filter)
    if (!record) throw refuse.entryNotFound()
    const id = String(record._id)
    if (awaited(id)) return { overtaken: id }
    try {
      return { result: await write(seenAs(engine.model, record, overtaken)) }
    } catch (error) {
      if (error !== overtaken) throw error
      return { overtaken: id }
    }
  })
  if (!written) throw overtaken
  return written.result
}
