import { describe, expect, it } from 'vitest'
import { checkVersion, newest } from '../../scripts/versions.ts'

describe('the version of a release', () => {
  it.each([
    ['the first one', '0.1.0', '0.1.0', []],
    ['a patch', '0.1.1', '0.1.0', ['0.1.0']],
    ['a minor one', '0.10.0', '0.9.3', ['0.9.3', '0.9.0']],
    ['a major one', '1.0.0', '0.9.3', ['0.9.3']],
    ['a pre-release', '1.0.0-rc.10', '1.0.0-rc.9', ['1.0.0-rc.9', '0.9.0']],
    ['the release after it', '1.0.0', '1.0.0-rc.10', ['1.0.0-rc.10']],
  ])('may be %s', (_title, next, current, versions) => {
    expect(() => checkVersion(next, current, versions)).not.toThrow()
  })

  it.each([
    ['no version', '1.0', '0.1.0', [], "'1.0' is not a version"],
    ['a tag', 'v1.0.0', '0.1.0', [], "'v1.0.0' is not a version"],
    ['a word', 'minor', '0.1.0', [], "'minor' is not a version"],
    ['one with leading zeros', '1.01.0', '0.1.0', [], "'1.01.0' is not a version"],
    ['one that is out', '0.1.0', '0.1.0', ['0.1.0'], '0.1.0 is released already'],
    ['an older one', '0.1.9', '0.2.0', ['0.2.0'], '0.1.9 is older than 0.2.0'],
    ['older than a tag', '0.3.0', '0.2.0', ['0.10.0'], '0.3.0 is older than 0.10.0'],
    ['a pre-release of what is out', '1.0.0-rc.1', '1.0.0', ['1.0.0'], 'is older than 1.0.0'],
    ['a number before a word', '1.0.0-1', '1.0.0-beta', [], '1.0.0-1 is older than 1.0.0-beta'],
  ])('may not be %s', (_title, next, current, versions, message) => {
    expect(() => checkVersion(next, current, versions)).toThrow(message)
  })

  it('follows the newest of the others', () => {
    expect(newest(['0.9.0', '0.10.0', '0.10.0-rc.1', '0.2.0'])).toBe('0.10.0')
    expect(newest([])).toBeUndefined()
  })
})
