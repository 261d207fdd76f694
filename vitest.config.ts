import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

const CI = process.env.CI === 'true'

/** For the threads and processes that tests start; `fromSource` is for the tests' own modules. */
const execArgv = ['--conditions=fieldgate-source']

/** What every project shares: real servers take their time, and files must not see each other. */
const shared = {
  environment: 'node',
  pool: 'forks',
  execArgv,
  testTimeout: 120_000,
  hookTimeout: 120_000,
} as const

/** Tests run the sources, so they need no build. */
const conditions = ['fieldgate-source', 'node']
const fromSource = { resolve: { conditions }, ssr: { resolve: { conditions } } }

const apart = ['contract', 'http', 'faults', 'browser']

/** The tests of one folder, with what must be there before they run. */
function folder(name: string, globalSetup: string[] = []): TestProjectInlineConfiguration {
  return {
    ...fromSource,
    test: { ...shared, name, include: [`test/${name}/**/*.test.ts`], globalSetup },
  }
}

export default defineConfig({
  test: {
    projects: [
      {
        ...fromSource,
        test: {
          ...shared,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...apart, 'package'].map((name) => `test/${name}/**`),
        },
      },
      ...apart.map((name) => folder(name)),
      folder('package', ['test/package/build.ts']),
    ],
    globalSetup: 'test/services/setup.ts',
    maxWorkers: 2,
    // A test that is skipped or left alone by mistake must not pass for a test.
    allowOnly: !CI,
    reporters: CI ? [['json', { outputFile: '.cache/test-results.json' }], 'default'] : ['default'],
  },
})
