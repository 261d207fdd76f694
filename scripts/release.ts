/**
 * `npm run release -- <version> [--dry-run] [--skip-checks]`: makes the commit and the tag of a release, on a clean `main`
 * that has passed the checks and whose tarball works. It pushes and publishes nothing, but says how to.
 *
 * @module
 */

import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { released, unreleased, upgrades } from './changelog.ts'
import { checkVersion, newest } from './versions.ts'

/** What must pass before: the quick checks, the build that will be published, and the tests of its tarball. */
const CHECKS = [
  ['npm', 'run', 'check'],
  ['npm', 'run', 'build'],
  ['npx', 'vitest', 'run', 'test/package'],
] as const

/** The files with the version in them. */
const MANIFESTS = [
  'package.json',
  'package-lock.json',
  'deno.json',
  ...globSync('packages/*/package.json'),
]

interface Manifest {
  readonly version: string
  readonly homepage: string
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim()
}

function manifest(): Manifest {
  return JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
}

function releasedVersions(): string[] {
  return git('tag', '--list', 'v*')
    .split('\n')
    .filter((tag) => tag !== '')
    .map((tag) => tag.slice(1))
}

function checkTree(): void {
  const branch = git('branch', '--show-current')
  if (branch !== 'main')
    throw new Error(`a release is made on main, not on ${branch || 'no branch'}`)
  const changes = git('status', '--porcelain')
  if (changes !== '') throw new Error(`commit or remove these changes first:\n${changes}`)
}

/** Replaces the package's own version; a dependency may have the same number. */
function setVersion(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'utf8')
  const own = file === 'package-lock.json' ? 2 : 1
  let count = 0
  const changed = text.replaceAll(`"version": "${from}"`, (found) => {
    count += 1
    return count <= own ? `"version": "${to}"` : found
  })
  if (count < own) throw new Error(`${file} does not have the version ${from}`)
  writeFileSync(file, changed)
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      'skip-checks': { type: 'boolean', default: false },
    },
  })
  const [version = ''] = positionals
  if (positionals.length !== 1) throw new Error('npm run release -- <version> [--dry-run]')
  checkTree()
  const { version: current, homepage } = manifest()
  const versions = releasedVersions()
  checkVersion(version, current, versions)
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  const next = released(changelog, {
    version,
    date: new Date().toISOString().slice(0, 10),
    previous: newest(versions),
    repository: homepage.replace(/#.*/, ''),
  })
  if (!values['skip-checks']) {
    for (const [command, ...args] of CHECKS) execFileSync(command, args, { stdio: 'inherit' })
  }
  if (values['dry-run']) {
    console.log(
      `${version} can be released. It would have these notes:\n\n${unreleased(changelog)}`,
    )
    return
  }
  for (const file of MANIFESTS) setVersion(file, current, version)
  writeFileSync('CHANGELOG.md', next)
  writeFileSync('docs/upgrading.md', upgrades(next))
  git(
    'commit',
    '--quiet',
    '--message',
    `chore: release ${version}`,
    '--',
    'CHANGELOG.md',
    'docs/upgrading.md',
    ...MANIFESTS,
  )
  git('tag', '--annotate', `v${version}`, '--message', `fieldgate ${version}`)
  console.log(`Committed and tagged v${version}. When you are sure:

  git push --follow-tags origin main

.github/workflows/release.yml then packs the tag, tries the tarballs and publishes them.`)
}

try {
  main()
} catch (error) {
  console.error(`Not released: ${(error as Error).message}`)
  process.exitCode = 1
}
