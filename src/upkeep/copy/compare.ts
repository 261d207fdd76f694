/** Both sides of a copy, compared record by record. */

import { sha256 } from '@noble/hashes/sha2.js'
import type { Copyable } from '../../ports/store/copying.ts'
import { hexOf } from '../../ports/values/hex.ts'
import { EXAMPLES, Ids, type Progress, type Some, told } from '../tally.ts'

export interface Comparison {
  readonly collection: string
  /** The records of the source that could be read. */
  readonly source: number
  /** Those that could not, because their ids are not of the model's type. */
  readonly unread: number
  /** The records of the target, all of them. */
  readonly target: number
  /** SHA-256 over the source's records in the order of their ids. */
  readonly checksum: string
  readonly missing: Some
  readonly changed: Some
  readonly extra: Some
}

export interface Pair<R> {
  readonly name: string
  readonly source: Copyable<R>
  readonly target: Copyable<R>
}

export async function compare<R>(
  { name, source, target }: Pair<R>,
  progress: Progress = {},
): Promise<Comparison> {
  const all = await source.count()
  const hash = sha256.create()
  const [missing, changed] = [new Ids(), new Ids()]
  let read = 0
  for await (const batch of told(source.batches(), progress, `comparing ${name}`, all)) {
    const there = await target.counterparts(batch)
    for (const record of batch) {
      const [id, content] = [source.idOf(record), source.contentOf(record)]
      hash.update(content)
      const other = there.get(id)
      if (other === undefined) missing.add(id)
      else if (!isSame(content, target.contentOf(other))) changed.add(id)
    }
    read += batch.length
  }
  const count = await target.count()
  const extra = Math.max(0, count - (read - missing.count))
  return {
    collection: name,
    source: read,
    unread: all - read,
    target: count,
    checksum: hexOf(hash.digest()),
    missing,
    changed,
    extra: { count: extra, examples: extra > 0 ? await extraIn(target, source) : [] },
  }
}

async function extraIn<R>(target: Copyable<R>, source: Copyable<R>): Promise<readonly string[]> {
  const extra = new Ids()
  for await (const batch of target.batches()) {
    const there = await source.counterparts(batch)
    for (const record of batch) {
      const id = target.idOf(record)
      if (!there.has(id)) extra.add(id)
    }
    if (extra.count >= EXAMPLES) break
  }
  return extra.examples
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  // A loop: `every` takes ten times as long.
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false
  return true
}
