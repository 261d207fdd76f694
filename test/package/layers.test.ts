import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** ARCHITECTURE.md's sentence: a layer imports itself and what stands before it. */
const ORDER: readonly (readonly string[])[] = orderOf(
  readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'),
)
/** Side layers import of the others what they like, and are imported by none. */
const ASIDE = [
  'audit',
  'background',
  'legacy',
  'mongoose',
  'health',
  'guards',
  'batch',
  'mcp',
  'methods',
  'contract',
  'openapi',
  'client',
]

const rank = new Map(ORDER.flatMap((layers, at) => layers.map((layer) => [layer, at] as const)))

function orderOf(architecture: string): string[][] {
  const [order = ''] = /`ports ← [^`]+`/.exec(architecture) ?? []
  return order
    .replaceAll('`', '')
    .split(' ← ')
    .map((layers) => layers.split(', '))
}

interface Import {
  readonly from: string
  readonly to: string
}

/** Every import of a file, as paths from the root; packages keep their names. */
function importsOf(file: string): Import[] {
  // Comments hold examples, which import what they like.
  const source = readFileSync(join(root, file), 'utf8').replace(/\/\*[^]*?\*\//g, '')
  const found = source.matchAll(/(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s*'([^']+)'/g)
  const loaded = source.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g)
  return [...found, ...loaded].map(([, name = '']) => ({
    from: file,
    to: name.startsWith('.') ? normalize(join(dirname(file), name)) : name,
  }))
}

const sources = globSync('{src,extras}/**/*.ts', { cwd: root })
const published = globSync('adapters/**/*.ts', { cwd: root })
/** A command is a composition root: it plugs stores together, as users do. */
const adapters = published.filter((file) => !file.startsWith('adapters/cli/'))

const isSource = (path: string) => /^(src|extras)\//.test(path)

/** The layer of a source: its folder, or for the files beside index.ts the app. */
function layerOf(file: string): string {
  const [, first = '', second] = file.split('/')
  if (second !== undefined) return first
  return first === 'index.ts' ? 'index' : 'app'
}

function mayImport(from: string, to: string): boolean {
  if (from === to) return true
  if (ASIDE.includes(from)) return to !== 'index' && !ASIDE.includes(to)
  const [own, other] = [rank.get(from), rank.get(to)]
  return own !== undefined && other !== undefined && other < own
}

describe('the layers of src and extras', () => {
  it('are all known', () => {
    const layers = new Set(sources.map(layerOf))
    expect([...layers].filter((layer) => !rank.has(layer) && !ASIDE.includes(layer))).toEqual([])
  })

  it('import only what stands before them', () => {
    const wrong = sources
      .flatMap(importsOf)
      .filter(({ to }) => isSource(to))
      .filter(({ from, to }) => !mayImport(layerOf(from), layerOf(to)))
    expect(wrong).toEqual([])
  })

  it('import no runtime, no adapter and no package beyond these', () => {
    const allowed = [
      /^zod\/(mini|v4\/core|v4\/locales\/en\.js)$/,
      /^@noble\/hashes\//,
      /^(itty-router|multipasta|file-type\/core)$/,
      /^jose(\/|$)/,
      // Only in `fieldgate/jobs`.
      /^croner$/,
      // Loaded when a ceremony begins.
      /^@simplewebauthn\/browser$/,
      /^#(scrypt|hmac|response|smtp|passwords|compression|outbound|contexts|processes|reference|uploads)$/,
    ]
    const wrong = sources
      .flatMap(importsOf)
      .filter(({ to }) => !isSource(to) && !allowed.some((name) => name.test(to)))
    expect(wrong).toEqual([])
  })
})

describe('the adapters', () => {
  /** `stores/sqlite` and `stores/mongodb` are two; every other folder is one. */
  const kindOf = (file: string) =>
    file
      .split('/')
      .slice(1, file.includes('/stores/') ? 3 : 2)
      .join('/')

  /** How bytes and secrets are spelled and compared, and options are checked, is one thing on both sides. */
  const COMMON = ['src/http/base64url.ts', 'src/model/option-rules.ts']

  /** What several stores need and no port does. */
  const SHARED = /^adapters\/stores\/(?:[^/]+\.ts$|(?:changes|planner|sql)\/)/

  /** What some kinds of adapter stand on besides. */
  const OWN = [
    ['adapters/runtimes/', 'src/app/app.ts'],
    ['adapters/runtimes/', 'src/background/run.ts'],
    ['adapters/files/', 'src/uploads/index.ts'],
    ['adapters/files/', 'src/uploads/taking.ts'],
    ['adapters/clients/', 'src/client/'],
    ['adapters/methods/', 'src/auth/'],
    ['adapters/methods/', 'src/http/'],
    ['adapters/methods/', 'src/methods/'],
  ] as const

  it('import of src the ports alone, the runtimes the app too, the clients the client, the methods what they are made of', () => {
    const wrong = adapters
      .flatMap(importsOf)
      .filter(({ to }) => isSource(to) && !to.startsWith('src/ports/'))
      .filter(({ to }) => !COMMON.includes(to))
      .filter(
        ({ from, to }) => !OWN.some(([kind, own]) => from.startsWith(kind) && to.startsWith(own)),
      )
    expect(wrong).toEqual([])
  })

  it('import no other kind of adapter', () => {
    const wrong = adapters
      .flatMap(importsOf)
      .filter(({ from, to }) => to.startsWith('adapters/') && kindOf(to) !== kindOf(from))
      .filter(({ to }) => !SHARED.test(to))
    expect(wrong).toEqual([])
  })

  it('import packages that package.json names', () => {
    const { dependencies, peerDependencies } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    ) as Record<'dependencies' | 'peerDependencies', Record<string, string>>
    const named = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)])
    const packageOf = (name: string) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/')
    const wrong = [...published, ...sources]
      .flatMap(importsOf)
      .filter(
        ({ to }) => !/^(src|extras|adapters)\/|^node:|^#/.test(to) && !named.has(packageOf(to)),
      )
    expect(wrong).toEqual([])
  })
})
