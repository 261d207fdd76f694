import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Release, released, unreleased, upgrades } from '../../scripts/changelog.ts'

const first = `# Changelog

Words.

## [Unreleased]

### Added

- One thing.
- Costs $1 and $& more.

[Unreleased]: https://example.com/kit/commits/main
`
const release: Release = {
  version: '0.1.0',
  date: '2026-11-22',
  previous: undefined,
  repository: 'https://example.com/kit',
}

describe('the changelog', () => {
  it('of the first release links to its tag', () => {
    expect(released(first, release)).toBe(`# Changelog

Words.

## [Unreleased]

## [0.1.0] - 2026-11-22

### Added

- One thing.
- Costs $1 and $& more.

[Unreleased]: https://example.com/kit/compare/v0.1.0...HEAD
[0.1.0]: https://example.com/kit/releases/tag/v0.1.0
`)
  })

  it('of the next one keeps what was there, and links to what has changed', () => {
    const more = released(first, release).replace(
      '## [Unreleased]\n',
      '## [Unreleased]\n\n- Another thing.\n',
    )
    expect(unreleased(more)).toBe('- Another thing.')
    const second = { ...release, version: '0.2.0', date: '2026-12-01', previous: '0.1.0' }
    expect(released(more, second)).toBe(
      first
        .replace(
          '## [Unreleased]\n',
          '## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n- Another thing.\n\n## [0.1.0] - 2026-11-22\n',
        )
        .replace(
          /\[Unreleased\]: .*/,
          `[Unreleased]: https://example.com/kit/compare/v0.2.0...HEAD
[0.2.0]: https://example.com/kit/compare/v0.1.0...v0.2.0
[0.1.0]: https://example.com/kit/releases/tag/v0.1.0`,
        ),
    )
  })

  it('is refused where it says nothing about the release', () => {
    const empty = released(first, release)
    expect(() => released(empty, { ...release, version: '0.2.0' })).toThrow('lists nothing under')
    expect(() => unreleased('# Changelog\n')).toThrow("no heading '## [Unreleased]'")
    expect(() => released(first.replace(/\[Unreleased\]: .*/, ''), release)).toThrow(
      'without a link',
    )
  })

  it('of this repository has the form that a release needs', () => {
    const own = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
    const changed = own.replace('## [Unreleased]\n', '## [Unreleased]\n\n- A thing.\n')
    expect(released(changed, { ...release, version: '9.9.9' })).toContain(
      '\n## [9.9.9] - 2026-11-22\n',
    )
  })
})

describe('the upgrade notes', () => {
  const changelog = `# Changelog

## [Unreleased]

### Changed

- Not yet.

## [0.2.0] - 2027-01-02

### Added

- A thing.

### Changed

- \`old\` is \`new\`: see [models](docs/models.md).

### Removed

- That.

## [0.1.0] - 2026-12-01

### Changed

- From what was before it.

[0.1.0]: https://example.com
`

  it('have what has changed in each version but the first', () => {
    const notes = upgrades(changelog)
    expect(notes.slice(notes.indexOf('## '))).toBe(`## To 0.2.0

### Changed

- \`old\` is \`new\`: see [models](models.md).

### Removed

- That.
`)
  })

  it('of this repository are those of its changelog', () => {
    const page = readFileSync(new URL('../../docs/upgrading.md', import.meta.url), 'utf8')
    const ours = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
    expect(page).toBe(upgrades(ours))
  })
})
