/** What is said when both sides of a copy are not equal. */

import { counted, countedRecords, type Some } from '../tally.ts'
import type { Comparison } from './compare.ts'

/** Thrown if source and target differ after a copy, or if that can't be told because the source is being written to. */
export class CopyMismatch extends Error {
  override readonly name = 'CopyMismatch'
}

export interface Circumstances {
  /** Whether there were writes to the source since the copy began; undefined if the store can't tell. */
  readonly wasWritten: boolean | undefined
  /** Whether none of them can have come in between what was found. */
  readonly isCertain: boolean
  /** Whether records with ids of another type may be left out. */
  readonly mayLeaveOut: boolean
}

const STOP = 'Stop whatever writes to the source, and copy again'

/** The error for what was found in each collection; undefined if both sides were equal at one moment. */
export function mismatch(
  compared: readonly Comparison[],
  { wasWritten, isCertain, mayLeaveOut }: Circumstances,
): CopyMismatch | undefined {
  const differing = compared.filter(({ missing, changed, extra }) =>
    [missing, changed, extra].some(({ count }) => count !== 0),
  )
  if (differing.length > 0) {
    const found = differing.map(differences).join(' ')
    return new CopyMismatch(`${found} ${advice(differing.every(isBehind), wasWritten)}`)
  }
  if (!isCertain) {
    return new CopyMismatch(
      `the source was written to during the copy, so it is not certain that both sides are equal. ${STOP}.`,
    )
  }
  const partly = mayLeaveOut ? undefined : compared.find(({ unread }) => unread > 0)
  if (!partly) return undefined
  // A walk by id meets ids of one type only, but other programs may have stored other ones.
  const { collection, source, unread } = partly
  return new CopyMismatch(
    `'${collection}': ${counted(unread)} of ${counted(source + unread)} records have an _id of another type than the model's, and were not copied`,
  )
}

function advice(isBehind: boolean, wasWritten: boolean | undefined): string {
  const into = 'into an empty target: records that it has already are never overwritten or removed'
  if (wasWritten === false) {
    return `Nothing wrote to the source meanwhile, so the target held other records before. Copy ${into}.`
  }
  const written = wasWritten ? 'The source was written to during the copy. ' : ''
  return `${written}${STOP}${isBehind ? '' : `, ${into}`}.`
}

/** Whether another run completes it: records are missing, and nothing else. */
function isBehind({ changed, extra }: Comparison): boolean {
  return changed.count === 0 && extra.count === 0
}

function differences({ collection, missing, changed, extra }: Comparison): string {
  const parts = [
    part(missing, 'missing in the target'),
    part(changed, 'different in the target'),
    part(extra, 'in the target only'),
  ]
  return `'${collection}': ${parts.filter((text) => text !== '').join('; ')}.`
}

function part({ count, examples }: Some, where: string): string {
  if (count === 0) return ''
  return `${countedRecords(count)} ${count === 1 ? 'is' : 'are'} ${where} (${examples.join(', ')}${count > examples.length ? ', …' : ''})`
}
