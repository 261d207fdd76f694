import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installInto, runtimes, slowProgram } from './consumer.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const bin = (name: string) => join(root, 'node_modules/.bin', name)
const project = mkdtempSync(join(tmpdir(), 'fieldgate-consumer-'))
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, unknown>
}
const entries = Object.keys(exports)
  .filter((name) => name !== './package.json')
  .map((name) => `fieldgate${name.slice(1)}`)

beforeAll(() => installInto(project))
afterAll(() => rmSync(project, { recursive: true, force: true }))

/** A program that imports every entry and says how many names each gives, then uses the first. */
function program(names: readonly string[]): string {
  return `import { createApp, createRouter, defineModel } from 'fieldgate'
import { z } from 'zod'
const empty = []
${names.map((name, at) => `import * as entry${at} from '${name}'\nif (Object.keys(entry${at}).length === 0) empty.push('${name}')`).join('\n')}
export const works = async (store) => {
  const app = createApp({ store })
  const City = defineModel('City', { fields: { name: z.string() } })
  app.mount('/cities', createRouter({ model: City, allowedFields: ['name'] }))
  const { status } = await app.handle(new Request('http://localhost/cities', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"name":"Oslo"}',
  }))
  return \`\${status} \${empty.join()}\`.trim()
}
`
}

describe('a project that installs the package', () => {
  it.each(runtimes)('reads on threads on %s', async (runtime, [command, ...args]) => {
    const file = join(project, 'slow.js')
    writeFileSync(file, slowProgram)
    const { stdout, stderr } = await run(command, [...args, file, join(project, `${runtime}.db`)], {
      cwd: project,
    })
    expect(stderr).not.toContain('thread')
    expect(stdout.trim()).toBe('City 99999 true')
  })

  it.each(runtimes)('imports every entry on %s', async (runtime, [command, ...args]) => {
    const file = join(project, `${runtime}.js`)
    const use = `import { sqliteStore } from 'fieldgate/sqlite'\nconsole.log(await works(sqliteStore()))\nprocess.exit()`
    writeFileSync(file, `${program(entries)}${use}`)
    const { stdout } = await run(command, [...args, file], { cwd: project })
    expect(stdout.trim()).toBe('201')
  })

  it('imports on workerd what serves there', async () => {
    const there = [
      '',
      '/workers',
      '/d1',
      '/mongodb',
      '/postgres',
      '/memory',
      '/upstash',
      '/s3',
      '/r2',
      '/health',
      '/telemetry',
      '/legacy',
    ]
    const use = `import { d1Store } from 'fieldgate/d1'\nexport default { fetch: async (_request, env) => new Response(await works(d1Store(env.DB))) }`
    const file = join(project, 'workerd.js')
    writeFileSync(file, `${program(there.map((name) => `fieldgate${name}`))}${use}`)
    // As `wrangler deploy` bundles it.
    const flags = [
      '--name',
      'consumer',
      '--compatibility-date',
      '2026-11-01',
      '--compatibility-flags',
      'nodejs_compat',
    ]
    await run(bin('wrangler'), ['deploy', file, '--dry-run', '--outdir', 'worker', ...flags], {
      cwd: project,
      env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
    })
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script: readFileSync(join(project, 'worker/workerd.js'), 'utf8'),
        compatibilityDate: '2026-11-01',
        compatibilityFlags: ['nodejs_compat'],
        d1Databases: ['DB'],
      }),
    )
    try {
      const response = await miniflare.dispatchFetch('http://localhost/')
      expect(await response.text()).toBe('201')
    } finally {
      await miniflare.dispose()
    }
  }, 300_000)

  it.each([
    ['with the types of browsers', ['ES2024', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'], true],
    ['with those of Node alone', ['ES2024'], false],
  ])('type-checks against the declarations, strictly, %s', async (_, lib, skipLibCheck) => {
    const names = entries.map(
      (name, at) => `import * as entry${at} from '${name}'\nvoid entry${at}`,
    )
    writeFileSync(
      join(project, 'types.ts'),
      `${names.join('\n')}
import { type App, createApp, defineModel } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'
import { z } from 'zod'
const City = defineModel('City', { fields: { name: z.string() } })
const app: App = createApp({ store: sqliteStore() })
export const name: Promise<string | undefined> = app.store
  .collection(City)
  .findById('0')
  .then((city) => city?.name)
`,
    )
    const options = {
      strict: true,
      noEmit: true,
      target: 'ES2024',
      module: 'NodeNext',
      lib,
      types: ['node'],
      skipLibCheck,
    }
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['types.ts'] }),
    )
    const checked = await run(bin('tsc'), ['-p', project, '--singleThreaded']).catch(
      (error: { stdout: string }) => error,
    )
    expect(checked.stdout).toBe('')
  })
})
