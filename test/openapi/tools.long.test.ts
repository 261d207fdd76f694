import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { City, Country, User } from '../../examples/atlas/models.ts'
import { document, openapi } from '../../src/openapi/index.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { runs } from '../runs.ts'
import { atlasApp, emptyApp, fullApp } from './apps.ts'
import { installTools, npmTool, packages, pythonTool } from './tools.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fieldgate-openapi-'))
  await installTools()
}, 900_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

// The atlas has nothing that the first one has not, and Schemathesis reads its document below.
describe('the documents of an app with everything on, and of one with nothing', () => {
  const apps = [fullApp(), emptyApp()]
  const versions = ['3.2', '3.1'] as const
  const documents = versions.flatMap((version) =>
    apps.map((app) => document(app, { title: 'Test', version: '1.0' }, version)),
  )
  let files: readonly string[]
  beforeAll(async () => {
    files = await Promise.all(
      documents.map(async (made) => {
        const file = join(folder, `${made.openapi}-${randomUUID()}.json`)
        await writeFile(file, JSON.stringify(made, null, 1))
        return file
      }),
    )
  })
  afterAll(() => Promise.all(apps.map((app) => app.close())))

  it('have no errors for Redocly', async () => {
    const args = ['lint', ...files, '--format=stylish']
    const { code, text } = await npmTool('@redocly/cli/bin/cli.js', args, folder)
    expect(code, text).toBe(0)
    for (const file of files) expect(text).toContain(`${basename(file)}: validated in`)
  })

  // Spectral does not know 3.2 yet.
  it('have no errors for Spectral in 3.1', async () => {
    const rules = join(folder, 'spectral.yaml')
    await writeFile(rules, 'extends: ["spectral:oas"]\n')
    const older = files.filter((file) => basename(file).startsWith('3.1'))
    expect(older).toHaveLength(apps.length)
    const args = ['lint', '--fail-severity=error', '-D', '-r', rules, ...older]
    const { code, text } = await npmTool('@stoplight/spectral-cli/dist/index.js', args, folder)
    expect(code, text).toBe(0)
  })

  it('have the form of the JSON Schema of OpenAPI', async () => {
    const entry = join(packages, '@seriousme/openapi-schema-validator/index.js')
    const { Validator } = await import(pathToFileURL(entry).href)
    for (const made of documents) {
      expect(await new Validator().validate(structuredClone(made))).toEqual({ valid: true })
    }
  })

  it('have no errors for openapi-spec-validator', async () => {
    const { code, text } = await pythonTool(['-m', 'openapi_spec_validator', ...files], folder)
    expect(code, text).toBe(0)
    for (const file of files) expect(text).toContain(`${file}: OK`)
  })
})

/**
 * These two checks do not hold by contract: a made-up `If-Match` is a 412 although it is valid, and `page=abc` is the
 * first page although it is not.
 */
const EXCLUDED = 'positive_data_acceptance,negative_data_rejection'

/** How many cases the fuzzing phase makes for each operation. */
const CASES = runs(3)

function fuzzed(name: string, open: () => Store): void {
  it(`the atlas on ${name} does what its document says, for Schemathesis`, async () => {
    const app = atlasApp(open())
    app.mount('/docs', openapi({ title: 'Atlas', version: '1.0' }))
    const server = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
    try {
      const admin = { email: 'admin@atlas.example', password: 'a horse that is correct' }
      const response = await fetch(`${server.url}/auth/register`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(admin),
      })
      const { data } = (await response.json()) as { data: { user: { _id: string } } }
      await app.store.collection(User).update(data.user._id, { role: 'admin' })
      const { _id } = await app.store.collection(Country).insert(SWITZERLAND)
      await app.store.collection(City).insert({ ...BERN, country: _id })
      const options = ['--phases=examples,coverage,fuzzing,stateful', '--checks=all']
      const bounds = [`--exclude-checks=${EXCLUDED}`, `--max-examples=${CASES}`, '--seed=1']
      const url = `${server.url}/docs/openapi.json`
      const { code, text } = await pythonTool(
        ['-c', RUN, 'run', url, ...options, ...bounds, '--no-color'],
        folder,
        {
          SCHEMATHESIS_HOOKS: 'sign_in',
          API: server.url,
          ADMIN: admin.email,
          ADMIN_PASSWORD: admin.password,
        },
      )
      expect(code, text).toBe(0)
      expect(text).toMatch(/Operations: +(\d+) selected \/ \1 total/)
      console.log(`${name}: ${/\d+ generated.*/.exec(text)}`)
    } finally {
      await server.close()
    }
  }, 900_000)
}

const RUN = 'from schemathesis.cli import schemathesis; schemathesis()'

const SWITZERLAND = {
  code: 'CH',
  name: 'Switzerland',
  officialName: 'Swiss Confederation',
  region: 'Europe' as const,
  subregion: 'Western Europe',
  capitals: ['Bern'],
  languages: ['German'],
  currencies: ['CHF'],
  emoji: '🇨🇭',
}
const BERN = { name: 'Bern', capital: true, latitude: 46.9, longitude: 7.4, population: 134_000 }

// Other stores give the same answers: test/records/differential compares them.
fuzzed('SQLite', () => sqliteStore())
