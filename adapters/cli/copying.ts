/** A copy with its progress and its end, for the commands that make one. */

import type { Model } from '../../src/model/model.ts'
import { ownSchema } from '../../src/model/own-records.ts'
import { everything } from '../../src/ports/store/filter.ts'
import type { Shape } from '../../src/ports/store/shape.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { historySchema, MAX_MODELS } from '../../src/upkeep/changes/model-history.ts'
import { table } from '../../src/upkeep/check/table.ts'
import { type CopyResult, copyRecords, SamePlace } from '../../src/upkeep/copy/copy.ts'
import { ForeignValues, type Loss } from '../../src/upkeep/copy/losses.ts'
import { CopyMismatch } from '../../src/upkeep/copy/mismatch.ts'
import { counted, countedRecords } from '../../src/upkeep/tally.ts'
import { bar } from './command.ts'
import { Unusable } from './unusable.ts'

export interface CopyJob {
  readonly from: Store
  /** Opens the target, which may make a file. */
  readonly to: () => Promise<Store>
  readonly models: Iterable<Model>
  /** Whether to go on where the target can't hold values as they are. */
  readonly convert: boolean
  readonly stream: NodeJS.WriteStream
}

export interface CopyEnd {
  /** Whether both sides are equal. */
  readonly ok: boolean
  readonly collections: readonly CopyResult[]
  /** What the target can't hold. Without `convert`, nothing has been written if there is any. */
  readonly lost: readonly Loss[]
  readonly error?: string
}

/** Copies, and shows the progress. Throws what is not the end of a copy, such as a store that can't be reached. */
export async function copy({ from, models, convert, stream, ...job }: CopyJob): Promise<CopyEnd> {
  // A source that cannot be reached leaves no empty target.
  await from.copying?.place?.()
  const to = await job.to()
  let lost: readonly Loss[] = []
  const all = [...models]
  const converting = (found: readonly Loss[]) => {
    lost = found
    stream.write(`${lossesOf(found)}\n`)
  }
  try {
    const options = { ...bar(stream), convert, converting }
    const collections = await copyRecords(from, to, all, options)
    const notes = [...(to.name === 'postgres' ? unordered(all) : []), ...leftBehind(all)]
    for (const line of [...notes, ...(await unknownIn(from, all))]) stream.write(`${line}\n`)
    const isEmpty = collections.every(({ source }) => source === 0)
    return { ok: !isEmpty, collections, lost, ...(isEmpty && { error: NOTHING_THERE }) }
  } catch (error) {
    if (error instanceof SamePlace) throw new Unusable(error.message)
    if (error instanceof ForeignValues) {
      return { ok: false, collections: [], lost: error.lost, error: NOTHING_WRITTEN }
    }
    if (!(error instanceof CopyMismatch)) throw error
    return { ok: false, collections: [], lost, error: error.message }
  }
}

/** The fields of which PostgreSQL keeps the members of objects in an order of its own. */
function unordered(models: readonly Model[]): string[] {
  return models.flatMap(({ collection, shape }) => {
    const free = [...shape.fields].filter(([, of]) => isFree(of)).map(([field]) => field)
    return free.length === 0
      ? []
      : `${collection}: PostgreSQL keeps the members of objects in ${free.join(', ')} in an order of its own`
  })
}

/** The collections whose log of changes stays where it is. */
function leftBehind(models: readonly Model[]): string[] {
  const logged = models.filter(({ changes }) => changes).map(({ collection }) => collection)
  if (logged.length === 0) return []
  return [
    `${logged.join(', ')}: the log of changes is not copied. Histories, consumers and webhooks begin anew in the target`,
  ]
}

/** The records of models that an app with the source has, or had, and that are not among `models`. */
async function unknownIn(from: Store, models: readonly Model[]): Promise<string[]> {
  const copied = new Set<unknown>(models.map(({ collection }) => collection))
  const known = await from
    .collection(historySchema)
    .find({ filter: everything, sort: [], limit: MAX_MODELS })
    .catch(() => [])
  const lines = known.map(async ({ model, collection }) => {
    if (typeof collection !== 'string' || copied.has(collection)) return []
    const count = await from
      .collection(ownSchema(collection, {}))
      .count(everything)
      .catch(() => 0)
    if (count === 0) return []
    return `${collection}: ${countedRecords(count)} not copied, because '${model}' is none of your models`
  })
  return (await Promise.all(lines)).flat()
}

/** Whether objects of this shape may have members that the model does not declare. */
function isFree(shape: Shape): boolean {
  if (shape.kind === 'list') return isFree(shape.element)
  if (shape.kind !== 'object') return shape.kind === 'mixed' || shape.kind === 'map'
  return shape.open === true || [...shape.fields.values()].some(isFree)
}

const NOTHING_THERE =
  'the source has no record of your models: is it the right one? Nothing has been copied'
const NOTHING_WRITTEN =
  'the target would hold values in another way than the source. Nothing has been written. Look at the table; to copy them so, add --convert'

export function lossesOf(lost: readonly Loss[]): string {
  return table([
    ['collection', 'field', 'type', 'becomes', 'values', 'for example'],
    ...lost.map(({ collection, field, type, becomes, count, examples }) => {
      return [collection, field, type, becomes, counted(count), examples.join(' ')]
    }),
  ])
}

export function linesOf(results: readonly CopyResult[]): string {
  return results
    .map(
      ({ collection, target, copied, checksum }) =>
        `${collection}: ${countedRecords(target)}, ${counted(copied)} copied now, checksum ${checksum.slice(0, 16)} on both sides`,
    )
    .join('\n')
}
