/** A change as a list of operations on paths. */

import type { Scalar } from '../../../src/ports/store/filter.ts'
import type { Change } from '../../../src/ports/store/store.ts'

export type Operation = { readonly path: string } & (
  | { readonly op: 'set'; readonly value: unknown }
  | { readonly op: 'unset' }
  | { readonly op: 'add'; readonly by: number }
  | { readonly op: 'push'; readonly value: unknown; readonly cap?: number }
  | { readonly op: 'pull'; readonly key: string; readonly value: Scalar }
)

/** The operations of a change, whose paths are all different, in the order of the port. */
export function operationsOf({ set, unset, increment, push, pull }: Change): Operation[] {
  const operations: Operation[] = []
  for (const path in set) {
    if (set[path] !== undefined) operations.push({ op: 'set', path, value: set[path] })
  }
  for (const path of unset ?? []) operations.push({ op: 'unset', path })
  for (const path in increment) operations.push({ op: 'add', path, by: increment[path] as number })
  for (const [path, one] of Object.entries(push ?? {}))
    operations.push({ op: 'push', path, ...one })
  for (const [path, one] of Object.entries(pull ?? {}))
    operations.push({ op: 'pull', path, ...one })
  return operations
}

export function changedPaths(change: Change): string[] {
  return operationsOf(change).map(({ path }) => path)
}
