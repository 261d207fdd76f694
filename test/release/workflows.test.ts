import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../..')
const workflows = globSync('.github/workflows/*.yml', { cwd: root })
const textOf = (path: string) => readFileSync(join(root, path), 'utf8')

interface Job {
  readonly permissions?: Readonly<Record<string, string>>
  readonly environment?: string
  readonly needs?: string
  readonly 'timeout-minutes'?: number
  readonly steps: readonly { readonly run?: string }[]
}

describe.each(workflows)('%s', (path) => {
  const { permissions, jobs } = parse(textOf(path)) as {
    readonly permissions: Readonly<Record<string, string>> | string
    readonly jobs: Readonly<Record<string, Job>>
  }

  it('runs only actions of a named commit, with its version beside it', () => {
    const uses = [...textOf(path).matchAll(/uses: (.*)/g)].map(([, action]) => action)
    expect(uses.length).toBeGreaterThan(0)
    for (const action of uses) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it('may only read, but for what a job names, and ends by itself', () => {
    expect([{ contents: 'read' }, 'read-all']).toContainEqual(permissions)
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeGreaterThan(0)
  })

  it('runs no text that comes from outside', () => {
    const commands = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run = '' }) => run))
    expect(commands.filter((command) => command.includes('${{'))).toEqual([])
  })
})

describe('the release workflow', () => {
  const { pack, publish } = (
    parse(textOf('.github/workflows/release.yml')) as {
      readonly jobs: Readonly<Record<'pack' | 'publish', Job>>
    }
  ).jobs

  it('publishes without a token what was packed and tried before, with its provenance', () => {
    expect(publish.needs).toBe('pack')
    expect(publish.environment).toBe('npm')
    expect(publish.permissions).toMatchObject({ 'id-token': 'write', contents: 'read' })
    expect(textOf('.github/workflows/release.yml')).not.toMatch(/secrets\.|NODE_AUTH_TOKEN/)
    const commands = publish.steps.map(({ run = '' }) => run).join('\n')
    expect(commands).toContain('npm publish "./$tarball" --provenance')
  })

  it('takes every package of the repository', () => {
    const commands = pack.steps.map(({ run = '' }) => run).join('\n')
    expect(commands).toContain('for folder in . packages/*/; do npm pack')
  })
})
