/**
 * What a change is about.
 *
 * @module
 */

import type { Change } from '../../src/ports/store.ts'

/** The paths that a change names. */
export function changedPaths({ set = {}, unset = [], increment, push, pull }: Change): string[] {
  const given = Object.keys(set).filter((path) => set[path] !== undefined)
  return [...given, ...unset, ...Object.keys({ ...increment, ...push, ...pull })]
}
