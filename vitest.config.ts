import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

const CI = process.env.CI === 'true'

/** What every project shares: real servers take their time, and files must not see each other. */
const shared = {
  environment: 'node',
  pool: 'forks',
  testTimeout: 120_000,
  hookTimeout: 120_000,
} as const

/** Tests run the sources, so they need no build. */
const conditions = ['fieldgate-source', 'node']
const fromSource = { resolve: { conditions }, ssr: { resolve: { conditions } } }

/** Slow as a whole: suites that talk to real servers, runtimes and services, or to the built package. */
const apart = ['contract', 'http', 'faults', 'browser', 'package']
const elsewhere = apart.map((name) => `test/${name}/**`)
/** Slow ones elsewhere say so in their name; those that only `npm run test:all` runs, everywhere. */
const slow = ['test/**/*.slow.test.ts', 'test/**/*.long.test.ts']
/** These stand in a slow folder and are quick: they read the repository's own files. */
const reading = ['layers', 'differences', 'house'].map((name) => `test/package/${name}.test.ts`)

/** The tests of one folder, with what must be there before they run. */
function folder(name: string, globalSetup: string[] = []): TestProjectInlineConfiguration {
  const include = [`test/${name}/**/*.test.ts`]
  return { ...fromSource, test: { ...shared, name, include, exclude: reading, globalSetup } }
}

/** What `npm run check` runs: all that needs no process, no service and little time; test/quick.ts sees to it. */
const unit: TestProjectInlineConfiguration = {
  ...fromSource,
  test: {
    ...shared,
    name: 'unit',
    include: ['test/*.test.ts', `test/!(${apart.join('|')})/**/*.test.ts`, ...reading],
    exclude: slow,
    // What one file has loaded serves the next: loading everything anew took as long as the tests themselves.
    isolate: false,
    setupFiles: ['test/quick.ts'],
    provide: { services: '' },
    testTimeout: 30_000,
  },
}

export default defineConfig({
  test: {
    projects: [
      unit,
      { ...fromSource, test: { ...shared, name: 'slow', include: slow, exclude: elsewhere } },
      ...apart.map((name) => folder(name, name === 'package' ? ['test/package/build.ts'] : [])),
    ],
    globalSetup: 'test/services/setup.ts',
    maxWorkers: 2,
    // A test that is skipped or left alone by mistake must not pass for a test.
    allowOnly: !CI,
    reporters: CI ? [['json', { outputFile: '.cache/test-results.json' }], 'default'] : ['default'],
  },
})
