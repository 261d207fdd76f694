import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build as bundle } from 'esbuild'
import { afterAll, expect, it } from 'vitest'
import { freePorts } from '../../services/server.ts'
import { builtPackage } from '../../services/shared.ts'
import { build, served } from './dockerfile.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const PATH = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`
const home = mkdtempSync(join(tmpdir(), 'fieldgate-club-image-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

it('the Dockerfile of the lending club gives a program with a page, which runs without rights', {
  timeout: 300_000,
}, async () => {
  chmodSync(home, 0o755)
  const [context, folder] = [join(home, 'context'), join(home, 'app')]
  cpSync(join(root, 'examples/lending-club'), context, { recursive: true })
  const project = { name: 'lending-club', version: '1.0.0', type: 'module' }
  const lock = { ...project, lockfileVersion: 3, packages: { '': project } }
  writeFileSync(join(context, 'package.json'), JSON.stringify(project))
  writeFileSync(join(context, 'package-lock.json'), JSON.stringify(lock))
  await bundle({
    entryPoints: [join(root, 'examples/lending-club/web.ts')],
    ...{ bundle: true, minify: true, format: 'esm' },
    outfile: join(context, 'public/web.js'),
    conditions: ['fieldgate-source'],
  })
  mkdirSync(folder)
  const file = join(context, 'Dockerfile')
  const image = await build(file, { context, folder, env: { ...process.env, PATH } })
  // The package as it is published, instead of what npm would install.
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  const built = await builtPackage()
  chmodSync(built, 0o755)
  symlinkSync(built, join(folder, 'node_modules/fieldgate'))
  symlinkSync(join(root, 'node_modules/zod'), join(folder, 'node_modules/zod'))
  expect(image.user).toBe('node')
  const [port = 0] = await freePorts(1)
  const ready = 'The lending club is on'
  await served(image, port, { env: { PATH }, ready }, async (base) => {
    expect(await (await fetch(base)).text()).toContain('<h1>Lending club</h1>')
    const script = await fetch(`${base}/web.js`)
    expect([script.status, script.headers.get('content-type')]).toEqual([200, 'text/javascript'])
    expect((await fetch(`${base}/tools`)).status).toBe(200)
  })
})
