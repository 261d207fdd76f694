/**
 * What a person sees while the tests run: a line at least every five seconds with how far they are and what runs, failures
 * as soon as they happen with what they printed, and at the end what was left out and why.
 *
 * @module
 */

import { globSync } from 'node:fs'
import { relative } from 'node:path'
import { MinimalReporter, type TestModule, type TestSpecification } from 'vitest/node'

const EVERY_MS = 5000

/** `1:05` for 65 seconds. */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** Reports a run of vitest. Beside what `MinimalReporter` prints, which are failures and totals, it tells the progress. */
export class Progress extends MinimalReporter {
  #timer: NodeJS.Timeout | undefined
  #began = 0
  #files = 0
  #ended = 0
  #passed = 0
  #failed = 0
  readonly #workers: number
  readonly #leavesOut: ReadonlyMap<string, string>
  readonly #running = new Set<string>()
  /** Why suites were skipped, as `withService` names them. */
  readonly #missing = new Set<string>()

  /**
   * `workers`: how many files run at the same time. `leavesOut`: the patterns of files that this run leaves
   * out, with what to say of them.
   */
  constructor(workers: number, leavesOut: ReadonlyMap<string, string>) {
    super()
    this.#workers = workers
    this.#leavesOut = leavesOut
  }

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications)
    this.#began = performance.now()
    this.#files = specifications.length
    this.log(`${this.#files} files of tests, ${this.#workers} at a time`)
    this.#timer = setInterval(() => this.#tell(), EVERY_MS)
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.add(this.#name(module))
  }

  override onTestModuleEnd(module: TestModule): void {
    super.onTestModuleEnd(module)
    this.#running.delete(this.#name(module))
    this.#ended++
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      if (state === 'passed') this.#passed++
      if (state === 'failed') this.#failed++
    }
    for (const suite of module.children.allSuites()) {
      if (suite.name.startsWith('no ')) this.#missing.add(suite.name)
    }
  }

  override onTestRunEnd(...ended: Parameters<MinimalReporter['onTestRunEnd']>): void {
    clearInterval(this.#timer)
    super.onTestRunEnd(...ended)
    for (const reason of this.#missing) this.log(`Left out: ${reason}`)
    for (const [pattern, text] of this.#leavesOut) {
      const files = globSync(pattern, { cwd: this.ctx.config.root }).length
      this.log(`Left out: ${files} files ${text}`)
    }
  }

  #tell(): void {
    const failed = this.#failed === 0 ? '' : `, ${this.#failed} failed`
    this.log(
      `${clock(performance.now() - this.#began)}  ${this.#ended} of ${this.#files} files, ${this.#passed} tests passed${failed}; ` +
        `now ${[...this.#running].join(', ')}`,
    )
  }

  #name({ moduleId }: TestModule): string {
    return relative(`${this.ctx.config.root}/test`, moduleId).replace(
      /(\.(slow|long|stress))?\.test\.ts$/,
      '',
    )
  }
}
