/**
 * Contracts: what every adapter of a port promises, as data that knows no test runner.
 *
 * @module
 */

import { afterEach, beforeEach, describe, it } from 'vitest'

/** A sentence that an adapter keeps → what shows it, on a fresh adapter. It throws where the promise is broken. */
export type Contract<Subject> = Readonly<Record<string, (subject: Subject) => Promise<void>>>

/** How a suite gets a fresh adapter, and which promises cannot be kept. */
export interface Opening<Subject, Sentences extends string = string> {
  open(): Promise<Subject> | Subject
  close?(subject: Subject): Promise<void> | void
  /** Sentence → the reason why this adapter cannot keep it. */
  readonly without?: { readonly [Sentence in Sentences]?: string }
}

/** Registers every sentence of a contract for one adapter. */
export function verify<Subject, C extends Contract<Subject>>(
  name: string,
  contract: C & Contract<Subject>,
  { open, close, without = {} }: Opening<Subject, keyof C & string>,
): void {
  describe(name, () => {
    let subject: Subject
    beforeEach(async () => {
      subject = await open()
    })
    afterEach(async () => {
      await close?.(subject)
    })
    for (const [sentence, check] of Object.entries(contract)) {
      const reason = (without as Record<string, string | undefined>)[sentence]
      if (reason === undefined) it(sentence, () => check(subject))
      // biome-ignore lint/suspicious/noSkippedTests: the adapter's entry says in words what it cannot keep
      else it.skip(`${sentence} (not here: ${reason})`, () => {})
    }
  })
}
