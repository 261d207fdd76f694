import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

const CI = process.env.CI === 'true'

/** What every project shares: real servers take their time, and files must not see each other. */
const shared = {
  environment: 'node',
  pool: 'forks',
  testTimeout: 120_000,
  hookTimeout: 120_000,
} as const

const apart = ['contract', 'http', 'faults', 'browser']

/** The tests of one folder, with what must be there before they run. */
function folder(name: string, globalSetup: string[] = []): TestProjectInlineConfiguration {
  return { test: { ...shared, name, include: [`test/${name}/**/*.test.ts`], globalSetup } }
}

export default defineConfig({
  test: {
    projects: [
      {
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
