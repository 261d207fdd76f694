/**
 * Contracts: the promises of every adapter of a port, as data independent of any test runner; and `verify`, which runs
 * them.
 */

/** A sentence that an adapter promises → a check on a fresh adapter, which throws if the promise is broken. */
export type Contract<Subject> = Readonly<Record<string, (subject: Subject) => Promise<void>>>

/** How a contract gets a fresh adapter, and which promises that adapter cannot keep. */
export interface Opening<Subject> {
  /** Returns a fresh adapter for each promise; a store must be empty. */
  open(): Promise<Subject> | Subject
  /** Closes what `open` returned, even if the promise was broken. */
  close?(subject: Subject): Promise<void> | void
  /** Promises that this adapter cannot keep, each with the reason. They are skipped. */
  readonly without?: Readonly<Record<string, string>>
}

/** Registers a test: the function `test` or `it` of vitest, node:test and Jest, or `Deno.test`. */
export type RegisterTest = (name: string, test: () => Promise<void>) => unknown

/** A test runner: its function that registers a test, or a module or object that has it as `it` or `test`. */
export type Runner =
  | RegisterTest
  | { readonly it: RegisterTest; readonly describe?: RegisterGroup }
  | { readonly test: RegisterTest; readonly describe?: RegisterGroup }

/** Groups tests: `describe`. */
export type RegisterGroup = (name: string, body: () => void) => unknown

/**
 * Registers every promise of a contract as a test, for one adapter. The runner is `{ describe, it }` of vitest or
 * node:test, or one function that registers a test, such as `Deno.test`.
 *
 * ```ts
 * const opening = { open: () => myStore(), close: (store: Store) => store.close() }
 * verify('my store', storeContract, opening, { describe, it })
 * ```
 */
export function verify<Subject>(
  name: string,
  contract: Contract<Subject>,
  { open, close, without = {} }: Opening<Subject>,
  runner: Runner,
): void {
  const unknown = Object.keys(without).find((sentence) => !Object.hasOwn(contract, sentence))
  if (unknown !== undefined) {
    throw new TypeError(
      `verify: 'without' names '${unknown}', but the contract has no such promise`,
    )
  }
  const { test, leaveOut, group } = partsOf(runner)
  group(name, (prefix) => {
    for (const [sentence, check] of Object.entries(contract)) {
      const reason = without[sentence]
      const title = `${prefix}${sentence}`
      if (reason !== undefined) leaveOut(`${title} (not here: ${reason})`, async () => {})
      else {
        test(title, async () => {
          const subject = await open()
          try {
            await check(subject)
          } finally {
            await close?.(subject)
          }
        })
      }
    }
  })
}

interface Parts {
  readonly test: RegisterTest
  readonly leaveOut: RegisterTest
  /** Runs `body` with the prefix of each title, if the runner has no groups. */
  group(name: string, body: (prefix: string) => void): void
}

function partsOf(runner: Runner): Parts {
  const test = testOf(runner)
  if (typeof test !== 'function') {
    throw new TypeError("verify: the runner must be a function such as 'test', or have one")
  }
  const { skip, ignore } = test as { skip?: RegisterTest; ignore?: RegisterTest }
  const describe = 'describe' in runner ? runner.describe : undefined
  return {
    test,
    // A runner that cannot skip is not told.
    leaveOut: skip ?? ignore ?? (() => {}),
    group(name, body) {
      if (describe) describe(name, () => body(''))
      else body(`${name}: `)
    },
  }
}

function testOf(runner: Runner): RegisterTest {
  if ('it' in runner) return runner.it
  return 'test' in runner ? runner.test : runner
}
