import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { describe, expect, it } from 'vitest'
import { completed, onDeno, readNames, SOURCE, type Target } from '../../scripts/entries.ts'
import { publishedPackage } from '../services/shared.ts'

const root = join(import.meta.dirname, '../..')
const { folder: built } = await publishedPackage()
const run = promisify(execFile)

const manifest = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, Target>>
  readonly imports: Readonly<Record<string, Target>>
  readonly bin?: Readonly<Record<string, string>>
}
const entries = Object.entries(manifest.exports).filter(([name]) => name !== './package.json')
const CONDITIONS = ['types', 'workerd', 'deno', 'bun', 'browser', 'node', 'default']

/** Every file that an entry may lead to. */
function filesOf(target: Target): string[] {
  return typeof target === 'string' ? [target] : Object.values(target).flatMap(filesOf)
}

/** What users get: everything but the sources, which are for programs of this repository. */
const published = (names: Readonly<Record<string, Target>>) =>
  Object.values(names).flatMap((target) =>
    typeof target === 'string' ? target : filesOf({ ...target, [SOURCE]: {} }),
  )

const targets = [manifest.exports, manifest.imports, manifest.bin ?? {}].flatMap(published)

describe('package.json', () => {
  it('leads to files that the build makes', () => {
    expect(targets.filter((file) => !existsSync(join(built, file)))).toEqual([])
  })

  it('gives every module of the build that no other imports', () => {
    const modules = globSync('dist/**/*.js', { cwd: built })
    const imported = new Set(
      modules.flatMap((file) =>
        [
          ...readFileSync(join(built, file), 'utf8').matchAll(
            // As a module, or by the name of a thread's.
            /["'](\.{1,2}\/[^"'\s]+\.js)["']/g,
          ),
        ].map(([, name = '']) => join(file, '..', name)),
      ),
    )
    const forgotten = modules.filter(
      (file) => !imported.has(file) && !targets.includes(`./${file}`),
    )
    expect(forgotten).toEqual([])
  })

  it('names types first and the conditions in one order', () => {
    const wrong = [...entries, ...Object.entries(manifest.imports)]
      .map(([name, target]) => [name, Object.keys(target).filter((one) => one !== SOURCE)] as const)
      .filter(
        ([, names]) =>
          names[0] !== 'types' ||
          names.join() !== CONDITIONS.filter((one) => names.includes(one)).join(),
      )
    expect(wrong).toEqual([])
  })

  it('leads to sources, from which everything else follows: `npm run entries` writes it', () => {
    const names = readNames('package.json')
    expect(names).toEqual(completed(names))
    expect(readNames('deno.json')).toEqual(onDeno(names))
    const sources = Object.values({ ...manifest.exports, ...manifest.imports })
      .flatMap((target) => (typeof target === 'string' ? [] : filesOf(target[SOURCE] ?? {})))
      .filter((file) => !existsSync(join(root, file)))
    expect(sources).toEqual([])
  })

  it('puts the sources first, so that their condition wins', () => {
    const wrong = [...entries, ...Object.entries(manifest.imports)].filter(
      ([, target]) => Object.keys(target)[0] !== SOURCE,
    )
    expect(wrong).toEqual([])
  })

  it('publishes the build and the manual', async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: built,
    })
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }]
    const manual = files.filter(({ path }) => path.startsWith('docs/'))
    expect(manual.filter(({ path }) => !/\.(?:md|svg|webp)$/.test(path))).toEqual([])
    expect([...new Set(files.map(({ path }) => path.split('/')[0]))].sort()).toEqual([
      'LICENSE',
      'README.md',
      'dist',
      'docs',
      'llms-full.txt',
      'llms.txt',
      'package.json',
      'skills',
    ])
  })

  it('passes publint', async () => {
    const { messages, pkg } = await publint({ pkgDir: built, strict: true, pack: false })
    expect(
      messages.map((message) => formatMessage(message, pkg as Record<string, unknown>)),
    ).toEqual([])
  })
})

describe('an entry', () => {
  it('gives these names, and no other', async () => {
    // As a user's program imports them, without the test runner in between.
    const program = `const names = {}
      for (const name of ${JSON.stringify(entries.map(([name]) => name))})
        names[name] = Object.keys(await import('fieldgate' + name.slice(1))).sort().join(' ')
      console.log(JSON.stringify(names))`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
      cwd: built,
    })
    const names: unknown = JSON.parse(stdout)
    expect(names).toMatchInlineSnapshot(`
      {
        ".": "BadRecipient HttpError SecondStepRequired ValidationError caseMapped createApp createAuthRouter createRouter defineModel describeGuard errorHandler ref sweepFiles userFields",
        "./accounts": "accountsWith apple emailVerification facebook github google legacyTokens ownProviders sessions",
        "./api-keys": "apiKeys",
        "./app": "appWith atomic caching exports history live",
        "./audit": "audit",
        "./backfill": "backfillAtStart",
        "./batch": "batch",
        "./bun": "serve",
        "./changes": "consume runBackground runDue",
        "./client": "ClientError createClient memoryStorage",
        "./common-passwords": "commonPasswords",
        "./contract": "BrokenPromise cacheContract fileContract imageContract storeContract verify",
        "./d1": "d1Store",
        "./deno": "serve",
        "./disk": "diskFiles",
        "./durable-sqlite": "durableStore",
        "./email-code": "emailCode",
        "./express": "toExpress",
        "./guards": "apiKey compress cors idempotency rateLimit readOnly secureHeaders",
        "./health": "health metrics",
        "./jobs": "jobs runBackground runDue",
        "./lambda": "lambda",
        "./legacy": "ControllerSets createRouterS3upload",
        "./libsql": "libsqlStore",
        "./mcp": "mcp",
        "./memory": "memoryCache",
        "./methods": "defineMethod methodModel",
        "./mongodb": "mongoStore",
        "./mongoose": "fromMongoose",
        "./node": "serve",
        "./oidc": "oidc",
        "./openapi": "document openapi",
        "./passkeys": "passkeys",
        "./ports": "AnchorGone DuplicateKey FileForbidden IndexConflict InvalidPattern QueryTooLong RangeNotSatisfiable RefusedWrite StoreTimeout StoreUnavailable TooManyPixels all any declaredAt everything fold headerOf isKey nothing onlyDeclared placeOf project roundedMeasure withDefaults withId",
        "./postgres": "postgresStore",
        "./r2": "r2Files",
        "./react-admin": "reactAdminAuth reactAdminData",
        "./redis": "redisCache",
        "./refine": "refineAuth refineData",
        "./s3": "s3Files",
        "./sharp": "sharpImages",
        "./sql": "foldedText jsonQuery readerOf selectGroups textOf writesIn",
        "./sqlite": "sqliteStore",
        "./sqlite-executor": "executorStore",
        "./tanstack-db": "fieldgateCollection",
        "./tanstack-query": "dataOf recordQueries retries",
        "./telemetry": "telemetry",
        "./totp": "totp",
        "./uploads": "uploads",
        "./upstash": "upstashCache",
        "./wasm-images": "wasmImages",
        "./webhooks": "runBackground runDue webhooks",
        "./workers": "appObject worker",
      }
    `)
  })
})
