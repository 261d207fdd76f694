import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)
const manifests = [
  'package.json',
  'package-lock.json',
  'deno.json',
  'packages/create-fieldgate/package.json',
  'packages/admin/package.json',
]
const parts = [...manifests, 'scripts', 'docs/upgrading.md']

const CHANGELOG = `# Changelog

## [Unreleased]

### Fixed

- A thing.

[Unreleased]: https://github.com/fieldgate/fieldgate/commits/main
`

/** A repository on `main` with what a release needs of this one. */
function repository(): {
  folder: string
  git(...args: string[]): string
  read(file: string): string
} {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-release-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const part of parts) cpSync(join(root, part), join(folder, part), { recursive: true })
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim()
  // The version of the day must not matter here.
  for (const file of manifests) {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      version: string
    }
    writeFileSync(
      join(folder, file),
      read(file).replaceAll(`"version": "${version}"`, '"version": "0.1.0"'),
    )
  }
  writeFileSync(join(folder, 'CHANGELOG.md'), CHANGELOG)
  git('init', '--quiet', '--initial-branch', 'main')
  git('config', 'user.name', 'Releaser')
  git('config', 'user.email', 'releaser@example.com')
  git('config', 'commit.gpgsign', 'false')
  git('config', 'tag.gpgsign', 'false')
  git('add', '.')
  git('commit', '--quiet', '--message', 'feat: a thing')
  return { folder, git, read }
}

/** What the script prints, and whether it released. */
async function release(folder: string, ...args: string[]): Promise<{ ok: boolean; text: string }> {
  const script = [
    '--disable-warning=ExperimentalWarning',
    'scripts/release.ts',
    '--skip-checks',
    ...args,
  ]
  return run(process.execPath, script, { cwd: folder }).then(
    ({ stdout, stderr }) => ({ ok: true, text: stdout + stderr }),
    ({ stdout, stderr }: { stdout: string; stderr: string }) => ({
      ok: false,
      text: stdout + stderr,
    }),
  )
}

describe('npm run release', () => {
  it('commits and tags the version, and leaves pushing, which publishes, to you', async () => {
    const { folder, git, read } = repository()
    const { ok, text } = await release(folder, '0.2.0')
    expect(text).toContain('git push --follow-tags origin main')
    expect(ok).toBe(true)
    const versions = manifests.map(
      (file) => (JSON.parse(read(file)) as { version: string }).version,
    )
    expect(versions).toEqual(Array(5).fill('0.2.0'))
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { version: string }>
    }
    expect(packages['']?.version).toBe('0.2.0')
    expect(read('CHANGELOG.md')).toMatch(
      /## \[Unreleased\]\n\n## \[0\.2\.0\] - \d{4}-\d\d-\d\d\n\n### Fixed/,
    )
    expect(git('status', '--porcelain')).toBe('')
    expect(git('log', '-1', '--format=%s')).toBe('chore: release 0.2.0')
    expect(git('tag', '--points-at', 'HEAD')).toBe('v0.2.0')
    expect(git('diff', '--shortstat', 'HEAD~1', '--', 'package-lock.json')).toContain(
      '2 insertions',
    )

    const again = await release(folder, '0.2.0')
    expect(again).toMatchObject({
      ok: false,
      text: expect.stringContaining('0.2.0 is released already'),
    })
    expect((await release(folder, '0.3.0')).text).toContain('lists nothing under')
  })

  it('changes nothing with --dry-run', async () => {
    const { folder, git } = repository()
    const { ok, text } = await release(folder, '0.1.0', '--dry-run')
    expect(text).toContain('- A thing.')
    expect(ok).toBe(true)
    expect([git('status', '--porcelain'), git('tag'), git('rev-list', '--count', 'HEAD')]).toEqual([
      '',
      '',
      '1',
    ])
  })

  it('refuses another branch, uncommitted changes and odd arguments', async () => {
    const { folder, git } = repository()
    expect((await release(folder)).text).toContain('npm run release -- <version>')
    expect((await release(folder, '1.0')).text).toContain("'1.0' is not a version")
    writeFileSync(join(folder, 'new.txt'), '')
    expect((await release(folder, '0.2.0')).text).toContain('?? new.txt')
    rmSync(join(folder, 'new.txt'))
    git('switch', '--quiet', '--create', 'other')
    const { ok, text } = await release(folder, '0.2.0')
    expect(text).toContain('on main, not on other')
    expect(ok).toBe(false)
  })
})
