/**
 * Positions in a log of changes, as strings: which database, and two numbers that grow.
 *
 * @module
 */

/** Where an entry is. */
export interface Position {
  /** Made at random with the log. A copy of the database that is used beside it, or after it, has another. */
  readonly epoch: string
  readonly first: number
  readonly second: number
}

/** Of two positions of one epoch the later one is the greater string. */
export function positionText({ epoch, first, second }: Position): string {
  return `${epoch}-${digits(first)}-${digits(second)}`
}

/** The position that a string stands for; undefined if there is none. */
export function positionIn(text: string): Position | undefined {
  const [, epoch, first, second] = /^([0-9a-z]{10})-([0-9a-z]{11})-([0-9a-z]{11})$/.exec(text) ?? []
  if (!epoch || !first || !second) return undefined
  return { epoch, first: Number.parseInt(first, 36), second: Number.parseInt(second, 36) }
}

/** Eleven digits to the base 36 hold every safe integer. */
function digits(number: number): string {
  return number.toString(36).padStart(11, '0')
}

/** An epoch for a new log. */
export function newEpoch(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10))
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join('')
}
