import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { upgradeOf, upgradeText } from '../../adapters/cli/upgrade.ts'
import { upgrades } from '../../scripts/changelog.ts'

const CHANGELOG = `# Changelog

## [Unreleased]

## [0.10.0] - 2027-03-01

### Changed

- \`createRouter({ exportMost })\` is \`exportLimit\` now,
  with the same default.

### Removed

- \`fieldgate/old-guards\`: use \`fieldgate/guards\`.

## [0.2.0] - 2027-01-01

### Changed

- \`trustEveryone\` of \`serve\` is gone.

### Added

- \`news\` of \`createApp\`.

## [0.1.0] - 2026-12-01

### Changed

- \`createApp\` is new.
`

/** A package that knows the notes, and a project that has version 0.1.0 of it. */
function folders(files: Readonly<Record<string, string>>): { packaged: URL; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-upgrade-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const all = {
    'packaged/package.json': '{"version":"0.10.0"}',
    'packaged/docs/upgrading.md': upgrades(CHANGELOG),
    ...files,
  }
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return {
    packaged: pathToFileURL(`${join(folder, 'packaged')}/`),
    folder: join(folder, 'project'),
  }
}

const APP = `import { createApp, createRouter } from 'fieldgate'

export const app = createApp({ store })
app.mount('/cities', createRouter({ model: City, exportMost: 10 }))
`

it('tells the notes between the installed version and this one, and where code names what they are about', () => {
  const { packaged, folder } = folders({
    'project/src/app.ts': APP,
    'project/node_modules/fieldgate/package.json': '{"version":"0.1.0"}',
    'project/node_modules/fieldgate/index.js': "import 'fieldgate/old-guards'",
    'project/dist/app.js': "import 'fieldgate/old-guards'",
  })
  const found = upgradeOf(packaged, folder, undefined)
  expect(found).toEqual({
    from: '0.1.0',
    to: '0.10.0',
    notes: [
      {
        version: '0.10.0',
        kind: 'Changed',
        text: '`createRouter({ exportMost })` is `exportLimit` now, with the same default.',
        places: [join('src', 'app.ts:4')],
      },
      {
        version: '0.10.0',
        kind: 'Removed',
        text: '`fieldgate/old-guards`: use `fieldgate/guards`.',
        places: [],
      },
      {
        version: '0.2.0',
        kind: 'Changed',
        text: '`trustEveryone` of `serve` is gone.',
        places: [],
      },
    ],
  })
  expect(upgradeText(found)).toContain(
    '3 notes. Those with a star (1) are about what your code names.',
  )
})

it('takes the version that package.json names where nothing is installed, or the one in --since', () => {
  const { packaged, folder } = folders({
    'project/package.json': '{"dependencies":{"fieldgate":"^0.2.0"}}',
  })
  expect(upgradeOf(packaged, folder, undefined).from).toBe('0.2.0')
  const since = upgradeOf(packaged, folder, '0.10.0')
  expect(upgradeText(since)).toBe('From fieldgate 0.10.0 to 0.10.0: there is nothing to change.')
})

it('asks for the version where it cannot know it', () => {
  const { packaged, folder } = folders({
    'project/node_modules/fieldgate/package.json': '{"version":"0.10.0"}',
  })
  const ask = (since?: string) => () => upgradeOf(packaged, folder, since)
  expect(ask()).toThrow('this project has 0.10.0, which is this version')
  expect(ask('last week')).toThrow('--since is a version such as 0.1.0')
  rmSync(join(folder, 'node_modules'), { recursive: true })
  expect(ask()).toThrow('there is no fieldgate in package.json')
})
