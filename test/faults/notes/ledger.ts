/**
 * What clients know of the notes that they have written, and what must therefore be stored.
 *
 * Every note is written by one client alone, one write after the other, and every write has a value of its own. A
 * write without a response may or may not have happened, so a note may have several states until somebody looks.
 *
 * @module
 */

/** A note as it is stored. */
export interface StoredNote {
  readonly _id: string
  readonly label: string
  readonly n: number
  /** The URL of its file, where it has one. */
  readonly file?: string
}

/** What did not hold; all zero when everything did. */
export interface Verdict {
  /** Acknowledged creates and changes that are not there. */
  lost: number
  /** Notes and values that nobody wrote, or whose write was refused. */
  phantom: number
  /** Notes that are there after an acknowledged delete. */
  resurrected: number
  /** Notes that one create has made twice. */
  duplicate: number
}

/** A note that is not there. */
const ABSENT = undefined

interface Known {
  /** The states that it may have. */
  possible: Set<number | undefined>
  deleted: boolean
  /** The values of its writes that were not refused. */
  readonly written: Set<number>
}

/** The notes of all clients of a trial. */
export class Ledger {
  /** Writes that were acknowledged so far. */
  acknowledged = 0
  readonly #notes = new Map<string, Known>()
  #values = 0

  /** A value that no other write has. */
  newValue(): number {
    this.#values += 1
    return this.#values
  }

  /** A write is sent: a create or a change to `value`, or a delete. */
  sent(label: string, value: number | undefined): void {
    const known = this.#notes.get(label) ?? {
      possible: new Set([ABSENT]),
      deleted: false,
      written: new Set(),
    }
    this.#notes.set(label, known)
    known.possible.add(value)
    if (value !== ABSENT) known.written.add(value)
  }

  /** It was acknowledged. */
  acknowledge(label: string, value: number | undefined): void {
    const known = this.#known(label)
    known.possible = new Set([value])
    known.deleted = value === ABSENT
    this.acknowledged += 1
  }

  /** It was refused, and the refusal says that nothing was written. */
  refused(label: string, value: number | undefined): void {
    const known = this.#known(label)
    known.possible.delete(value)
    if (value !== ABSENT) known.written.delete(value)
  }

  /** Compares with all that is stored. What is seen is what the notes are from here on. */
  verdict(stored: readonly StoredNote[]): Verdict {
    const verdict: Verdict = { lost: 0, phantom: 0, resurrected: 0, duplicate: 0 }
    const found = Map.groupBy(stored, ({ label }) => label)
    for (const [label, notes] of found) {
      verdict.duplicate += notes.length - 1
      if (!this.#notes.has(label)) verdict.phantom += 1
    }
    for (const [label, known] of this.#notes) {
      const value = found.get(label)?.[0]?.n
      if (!known.possible.has(value)) verdict[whyNot(known, value)] += 1
      known.possible = new Set([value])
    }
    return verdict
  }

  #known(label: string): Known {
    const known = this.#notes.get(label)
    if (!known) throw new Error(`nobody has written '${label}'`)
    return known
  }
}

/** What it means that a note has a state that it cannot have. */
function whyNot(known: Known, value: number | undefined): keyof Verdict {
  if (value === ABSENT) return 'lost'
  if (known.deleted) return 'resurrected'
  // An older value than the last acknowledged one is a change that was lost.
  return known.written.has(value) ? 'lost' : 'phantom'
}
