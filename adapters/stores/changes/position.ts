/** Positions in a log of changes, as strings: which database, and numbers that grow. */

export interface Position {
  /** Made with the log. A copy of the database that is used beside it, or after it, has another. */
  readonly epoch: string
  /** What decides first comes first. */
  readonly numbers: readonly number[]
}

/** Of two positions the later one is the greater string, also of two epochs. */
export function positionText({ epoch, numbers }: Position): string {
  return [epoch, ...numbers.map(digits)].join('-')
}

/** The position that a string stands for, with so many numbers; undefined if there is none. */
export function positionIn(text: string, count: number): Position | undefined {
  const [epoch = '', ...parts] = text.split('-')
  const isPosition = /^[0-9a-z]{10}$/.test(epoch) && parts.length === count
  if (!isPosition || !parts.every((part) => /^[0-9a-z]{11}$/.test(part))) return undefined
  return { epoch, numbers: parts.map((part) => Number.parseInt(part, 36)) }
}

/** Eleven digits to the base 36 hold every safe integer. */
function digits(number: number): string {
  return number.toString(36).padStart(11, '0')
}

/** An epoch for a new log: when it begins, in steps of ten seconds, and four digits at random. */
export function newEpoch(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(4))
  const random = Array.from(bytes, (byte) => (byte % 36).toString(36)).join('')
  return digits(Math.floor(Date.now() / 10_000)).slice(-6) + random
}
