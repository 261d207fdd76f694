/** Long work with other requests getting their turn in between: on many records, or on a large one. */

import type { Fields } from '../store/records.ts'
import type { MaybePromise } from './maybe-promise.ts'

/** Characters of JSON after which others get their turn: some 5 ms of work. */
export const TURN_LENGTH: number = 256 * 1024

/** How many items to read at a time, at most `most`, if each has about so many characters: others wait meanwhile. */
export function countFor(length: number, most: number): number {
  return Math.max(3, Math.min(most, Math.floor((4 * TURN_LENGTH) / length)))
}

/** What `make` makes of each item: at once if they are short together, else in turns. */
export function mapInTurns<Item, Made>(
  items: readonly Item[],
  lengthOf: (item: Item) => number,
  make: (item: Item) => Made,
): MaybePromise<Made[]> {
  let length = 0
  for (const item of items) length += lengthOf(item)
  if (length >= TURN_LENGTH) return mapped(items, lengthOf, make)
  const made: Made[] = []
  for (const item of items) made.push(make(item))
  return made
}

async function mapped<Item, Made>(
  items: readonly Item[],
  lengthOf: (item: Item) => number,
  make: (item: Item) => Made,
): Promise<Made[]> {
  const made: Made[] = []
  let left = TURN_LENGTH
  for (const item of items) {
    made.push(make(item))
    left -= lengthOf(item)
    if (left > 0) continue
    left = TURN_LENGTH
    await nextTurn()
  }
  return made
}

/** Values that contain more than this many keys and values take milliseconds. */
const MAX_SMALL_VALUES = 2000

/** Whether a value contains so many others that each step of work on it should take a turn of its own. */
export function isLarge(value: unknown): boolean {
  return typeof value === 'object' && leftOf(MAX_SMALL_VALUES, value) < 0
}

/** The result of `work`, which has a turn of its own: so do the work before it and after it. */
export async function inOwnTurn<T>(work: () => Promise<T>): Promise<T> {
  await nextTurn()
  const result = await work()
  await nextTurn()
  return result
}

/** What is left of `most` after the keys and values in `value`; negative once it is too little. */
function leftOf(most: number, value: object | null): number {
  const isList = Array.isArray(value)
  // Of an object with too many keys, no value is looked at.
  const keys: readonly unknown[] = isList ? value : Object.keys(value ?? {})
  let left = most - 1 - (isList ? 0 : keys.length)
  for (let at = 0; at < keys.length && left >= 0; at += 1) {
    const member = isList ? keys[at] : (value as Fields)[keys[at] as string]
    left = typeof member === 'object' ? leftOf(left, member) : left - 1
  }
  return left
}

/** The timer as it is now: tests that stop the clock later must not stop work on long lists. */
const later = globalThis.setTimeout.bind(globalThis)

/**
 * Resolves in a later turn of the event loop. Uses a timer and then a message: before they look at their sockets, Node
 * may run timer after timer, and Bun message after message.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    later(typeof MessageChannel === 'undefined' ? resolve : () => message(resolve), 0)
  })
}

function message(arrived: () => void): void {
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = () => {
    // An open port would keep the process alive.
    port1.close()
    arrived()
  }
  port2.postMessage(null)
}
