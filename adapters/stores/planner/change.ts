/** A change as a list of operations on paths. */

import type { Scalar } from '../../../src/ports/store/filter.ts'
import type { Change } from '../../../src/ports/store/store.ts'

export type Operation = { readonly path: string } & (
  | { readonly op: 'set'; readonly value: unknown }
  | { readonly op: 'unset' }
  | { readonly op: 'add'; readonly by: number }
  | { readonly op: 'push'; readonly value: unknown; readonly cap: number | undefined }
  | { readonly op: 'pull'; readonly key: string; readonly value: Scalar }
)

/** The operations of a change, whose paths are all different, in the order of the port. */
export function operationsOf({ set = {}, unset = [], ...change }: Change): Operation[] {
  const { increment = {}, push = {}, pull = {} } = change
  const operations: Operation[] = []
  for (const [path, value] of Object.entries(set)) {
    if (value !== undefined) operations.push({ op: 'set', path, value })
  }
  for (const path of unset) operations.push({ op: 'unset', path })
  for (const [path, by] of Object.entries(increment)) operations.push({ op: 'add', path, by })
  for (const [path, { value, cap }] of Object.entries(push)) {
    operations.push({ op: 'push', path, value, cap })
  }
  for (const [path, { key, value }] of Object.entries(pull)) {
    operations.push({ op: 'pull', path, key, value })
  }
  return operations
}

export function changedPaths(change: Change): string[] {
  return operationsOf(change).map(({ path }) => path)
}
