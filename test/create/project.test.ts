import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { RUNTIMES, storesOn } from '../../packages/create-fieldgate/src/choices.ts'
import { inShell } from '../../packages/create-fieldgate/src/main.ts'
import { managerOf, VERSIONS } from '../../packages/create-fieldgate/src/manifest.ts'
import { filesOf, nameFrom } from '../../packages/create-fieldgate/src/project.ts'
import { agentDocs } from '../../scripts/agent-docs.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

const projects = RUNTIMES.flatMap((runtime) =>
  storesOn(runtime).flatMap((store) =>
    (['an API key', 'accounts', 'passkeys', 'the admin page'] as const).map((access) => {
      const accounts = access !== 'an API key'
      const [passkeys, admin] = [access === 'passkeys', access === 'the admin page']
      const choices = { directory: 'notes', runtime, store, accounts, passkeys, admin }
      const title = `${runtime}, ${store}, ${access}`
      // Of passkeys, as pnpm would have them.
      const manager = managerOf(runtime, passkeys ? 'pnpm/12.21.0 npm/? node/v22.23.3' : undefined)
      return [title, filesOf(choices, 'notes', '0.1.0', manager)] as const
    }),
  ),
)

describe.each(projects)('the files of a project with %s', (_, files) => {
  const textOf = (path: string) => files.get(path) ?? ''

  it('have nothing of the templates left in them', () => {
    const left = [...files].filter(([, text]) => /@if|@end|\{\{|\}\}/.test(text))
    expect(left.map(([path]) => path)).toEqual([])
  })

  it('are few, and neither empty nor without a last line break', () => {
    // pnpm has one of its own.
    expect(files.size).toBeLessThanOrEqual(files.has('pnpm-workspace.yaml') ? 19 : 18)
    const odd = [...files].filter(([, text]) => !/\S\n$/.test(text) || /\n{3}/.test(text))
    expect(odd.map(([path]) => path)).toEqual([])
  })

  it('name variables in .env.example that config.ts reads, all of them', () => {
    const read = textOf('src/config.ts').matchAll(/^ {2}([A-Z_]+): /gm)
    const shown = textOf('.env.example').matchAll(/^(?:# )?([A-Z_]+)=/gm)
    const names = (found: Iterable<RegExpMatchArray>) =>
      [...found].map(([, name]) => name).toSorted()
    expect(names(shown)).toEqual(names(read))
  })

  it('have a secret in .env alone', () => {
    expect(textOf('.env.example')).toMatch(/^(?:APP_SECRET|API_KEY)=$/m)
    expect(textOf('.env')).toMatch(/^(?:APP_SECRET|API_KEY)=[\w-]{43}$/m)
    expect(textOf('.gitignore')).toMatch(/^\.env$/m)
  })

  it('lead to pages of the manual, and to files of the project', () => {
    const pages = [...files.values()].flatMap((text) => [
      ...text.matchAll(/node_modules\/fieldgate\/(docs\/[\w/.-]+\.md)/g),
    ])
    expect(pages.length).toBeGreaterThan(10)
    expect(pages.filter(([, page = '']) => !existsSync(join(root, page)))).toEqual([])
    const named = textOf('AGENTS.md').matchAll(/`((?:src|test)\/[\w.-]+)`/g)
    expect([...named].filter(([, path = '']) => !files.has(path))).toEqual([])
  })

  it('have an AGENTS.md with commands that there are, and skills of the package', () => {
    const text = textOf('AGENTS.md')
    const { scripts = {} } = JSON.parse(files.get('package.json') ?? '{}')
    const { tasks = {} } = JSON.parse(files.get('deno.json') ?? '{}')
    const known = Object.keys({ ...scripts, ...tasks })
    const named = [...text.matchAll(/`(?:p?npm run|bun run|deno task) (\w+)/g)].map(
      ([, one]) => one,
    )
    expect(named).toEqual(['dev', 'test', 'check'])
    expect(named.filter((one) => !known.includes(one ?? ''))).toEqual([])
    const skills = [...text.matchAll(/skills\/\w+\/SKILL\.md/g)].map(([path]) => path)
    expect(skills.length).toBeGreaterThan(1)
    expect(skills.filter((path) => !agentDocs().has(path))).toEqual([])
  })

  it('have a compose.yaml for the address in .env.example', () => {
    const [, url] = /^DATABASE_URL=(.*)$/m.exec(textOf('.env.example')) ?? []
    const compose = parseYaml(textOf('compose.yaml')) as { services?: object } | null
    expect(Object.keys(compose?.services ?? {})).toHaveLength(
      url && !url.startsWith('file:') ? 1 : 0,
    )
    if (url && !url.startsWith('file:'))
      expect(textOf('compose.yaml')).toContain(`'127.0.0.1:${new URL(url).port}:`)
  })
})

describe('the name of a project', () => {
  it.each([
    ['my-api', 'my-api'],
    ['My API!', 'my-api'],
    ['.hidden_thing', 'hidden-thing'],
    ['Küche', 'kuche'],
    ['日本', 'my-api'],
    ['fieldgate', 'fieldgate-api'],
    ['zod', 'zod-api'],
    ['a'.repeat(80), 'a'.repeat(63)],
  ])('of the directory %s is %s', (directory, name) => {
    expect(nameFrom(directory)).toBe(name)
  })
})

it('a project gets the versions that fieldgate is tested with, and the version of its own', () => {
  const manifest = (path: string) =>
    JSON.parse(readFileSync(join(root, path), 'utf8')) as {
      readonly version: string
      readonly devDependencies: Record<string, string>
    }
  const { version, devDependencies } = manifest('package.json')
  const tested = Object.keys(VERSIONS).map((name) => [name, `^${devDependencies[name]}`])
  expect(VERSIONS).toEqual(Object.fromEntries(tested))
  expect(manifest('packages/create-fieldgate/package.json').version).toBe(version)
})

it('paths are written as a shell takes them', () => {
  expect(
    ['a/b-1.c', 'küche', 'a b', "it's", '$a', '(a)'].map((path) => inShell(path, false)),
  ).toEqual(['a/b-1.c', 'küche', "'a b'", "'it'\\''s'", "'$a'", "'(a)'"])
  expect(['C:\\a', 'C:\\a b'].map((path) => inShell(path, true))).toEqual(['C:\\a', '"C:\\a b"'])
})
