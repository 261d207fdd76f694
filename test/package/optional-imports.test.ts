import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

it('imports no package with `catch` on the import, which Turbopack refuses where the package is absent', () => {
  const sources = globSync('{src,extras,adapters}/**/*.ts', { exclude: ['**/*.d.ts'] })
  expect(sources.length).toBeGreaterThan(100)
  const caught = sources.filter((path) =>
    /\bimport\([^)]*\)\s*\.catch\(/.test(readFileSync(path, 'utf8')),
  )
  expect(caught).toEqual([])
})
