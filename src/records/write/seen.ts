/**
 * Writes of a record as it was read: they happen only if it is still the same, so that what a hook has judged is what is
 * written.
 *
 * @module
 */

import type { HttpError } from '../../http/errors.ts'
import { changedMeanwhile, entryNotFound } from '../../http/refusals.ts'
import type { Filter } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { pause } from '../engine/tries.ts'
import type { Resource } from '../setup/resource.ts'
import type { Expected } from './file-writes.ts'

/** A record as it was read, which must be the same at the moment of the write. */
export interface Seen extends Expected {
  readonly record: Fields
}

/** How often a hook judges a record that other requests keep changing. */
export const JUDGEMENTS = 2

/** `record`, as it was read; `refusal` is the error if it is another one at the moment of the write. */
export function seenAs(
  { model }: Pick<Resource, 'model'>,
  record: Fields,
  refusal: HttpError,
): Seen {
  const names = [...model.shape.fields.keys()].filter((name) => name !== '_id')
  const fields = Object.fromEntries(names.map((name) => [name, record[name]]))
  return { record, fields, refusal }
}

/**
 * Reads the record that matches and calls `write`, which throws the refusal of what it gets if the record has changed
 * meanwhile; then both are done again, `most` times in all. Throws a 404, or after the last time a 409. A writer that was
 * overtaken waits for others of this process that were too.
 */
export async function writeSeen<T>(
  resource: Resource,
  filter: Filter,
  most: number,
  write: (seen: Seen) => Promise<T>,
): Promise<T> {
  const { engine } = resource
  const overtaken = changedMeanwhile()
  let id = ''
  const tryOnce = async (): Promise<{ readonly result: T } | undefined> => {
    const record = await engine.first(filter)
    if (!record) throw entryNotFound()
    id = String(record._id)
    try {
      return { result: await write(seenAs(resource, record, overtaken)) }
    } catch (error) {
      if (error !== overtaken) throw error
      return undefined
    }
  }
  const first = await tryOnce()
  if (first) return first.result
  return engine.judging.after(id, async () => {
    for (let tries = 2; tries <= most; tries += 1) {
      if (tries > 2) await pause(tries)
      const next = await tryOnce()
      if (next) return next.result
    }
    throw overtaken
  })
}
