import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

interface Lock {
  readonly packages: Record<string, { readonly version?: string; readonly resolved?: string }>
}

it('the image of the atlas has the versions that this repository is tested with', () => {
  const { dependencies } = JSON.parse(read('examples/atlas/package.json')) as {
    readonly dependencies: Record<string, string>
  }
  const { packages } = JSON.parse(read('package-lock.json')) as Lock
  const versionOf = (name: string) => packages[`node_modules/${name}`]?.version
  const tested = Object.keys(dependencies).map((name) => [name, versionOf(name)])
  expect(dependencies).toEqual(Object.fromEntries(tested))
  const scalar = `@scalar/api-reference@${versionOf('@scalar/api-reference')}`
  expect(read('examples/atlas/Dockerfile')).toContain(`npm pack --silent ${scalar} `)
})

it('its lockfile names no registry', () => {
  const { packages } = JSON.parse(read('examples/atlas/package-lock.json')) as Lock
  const resolved = Object.values(packages).filter((entry) => entry.resolved !== undefined)
  expect(resolved).toEqual([])
})
