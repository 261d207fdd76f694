/**
 * Keys for the elements of a list that have no name: an element keeps its own when others are moved or removed.
 *
 * @module
 */

import { useRef } from 'react'

/** The keys of `count` elements, and what to call when one is moved or removed. */
export function useKeys(count: number): {
  readonly keys: readonly number[]
  readonly move: (from: number, to: number) => void
  readonly remove: (at: number) => void
} {
  const keys = useRef<number[]>([])
  const last = useRef(0)
  keys.current.length = Math.min(keys.current.length, count)
  while (keys.current.length < count) {
    last.current += 1
    keys.current.push(last.current)
  }
  return {
    keys: keys.current,
    move(from, to) {
      const [moved = 0] = keys.current.splice(from, 1)
      keys.current.splice(to, 0, moved)
    },
    remove: (at) => void keys.current.splice(at, 1),
  }
}
