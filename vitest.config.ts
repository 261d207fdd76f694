import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'
import { Progress } from './test/progress.ts'

const CI = process.env.CI === 'true'

/** What every project shares: real servers take their time. */
const shared = {
  environment: 'node',
  pool: 'forks',
  // What one file has loaded serves the next: loading everything anew took a fifth of the time.
  isolate: false,
  setupFiles: 'test/platform.ts',
  // For what hangs: what takes half a minute when three files run takes five times as long on a busy machine.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  // A busy machine may take long for what comes in a moment otherwise; vitest would give it a second, and look each 50 ms.
  expect: { poll: { timeout: 120_000, interval: 10 } },
} as const

/** Tests run the sources, so they need no build. */
const conditions = ['fieldgate-source', 'node']
const fromSource = { resolve: { conditions }, ssr: { resolve: { conditions } } }

/** Slow as a whole: suites that talk to real servers, runtimes and services, or to the built package. */
const apart = '(contract|http|faults|browser|package)'
/** Slow ones elsewhere say so in their name; `npm test` leaves the long ones to `npm run test:all`. */
const long = 'test/**/*.long.test.ts'
/** Kills, races, timed pairs and random programmes, as long as `FIELDGATE_RUNS` says: `npm run test:stress`. */
const stress = 'test/**/*.stress.test.ts'
/** These stand in a slow folder and are quick: they read the repository's own files. */
const reading = 'test/package/{layers,differences,house}.test.ts'

const slow: TestProjectInlineConfiguration = {
  ...fromSource,
  test: {
    ...shared,
    name: 'slow',
    include: ['test/**/*.slow.test.ts', long, stress, `test/@${apart}/**/*.test.ts`],
    exclude: [reading],
  },
}

/** What `npm run check` runs: all that needs no process, no service and little time; test/quick.ts sees to it. */
const unit: TestProjectInlineConfiguration = {
  ...fromSource,
  test: {
    ...shared,
    name: 'unit',
    include: ['test/*.test.ts', `test/!${apart}/**/*.test.ts`, reading],
    exclude: ['test/**/*.slow.test.ts', long, stress],
    setupFiles: [shared.setupFiles, 'test/quick.ts'],
    provide: { services: '' },
    testTimeout: 30_000,
  },
}

/** How many files run at the same time. With one less, two cores did nothing for a fifth of the time, and an eighth. */
const workers = (mode: string) => (mode === 'short' ? 3 : 4)

/** What `npm test` and `npm run test:all` leave out by their modes, and what they say of it. */
function leftOut(mode: string): ReadonlyMap<string, string> {
  const others = "with every store, new projects and other people's tools: npm run test:all"
  const programmes = 'with kills, races and random programmes: npm run test:stress'
  if (mode === 'short')
    return new Map([
      [long, others],
      [stress, programmes],
    ])
  return new Map(mode === 'all' ? [[stress, programmes]] : [])
}

/** `project` without the files of `left`. */
function without(
  left: Iterable<string>,
  { test, ...project }: TestProjectInlineConfiguration,
): TestProjectInlineConfiguration {
  return { ...project, test: { ...test, exclude: [...(test?.exclude ?? []), ...left] } }
}

export default defineConfig(({ mode }) => ({
  test: {
    projects: [unit, slow].map((project) => without(leftOut(mode).keys(), project)),
    globalSetup: 'test/services/setup.ts',
    // Of what `npm test` leaves out, half waits: for leases of killed processes, for commands that others run.
    maxWorkers: workers(mode),
    sequence: { sequencer: LongestFirst },
    // A test that is skipped or left alone by mistake must not pass for a test.
    allowOnly: !CI,
    reporters: [new Progress(workers(mode), leftOut(mode)), ...(CI ? ['json'] : [])],
    outputFile: { json: '.cache/tests.json' },
    // Tests print what they measure; a reader needs it when one fails.
    silent: 'passed-only',
  },
}))
