import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, describe, expect, it } from 'vitest'
import { freePorts } from '../services/server.ts'
import { publishedPackage } from '../services/shared.ts'

const { folder: built } = await publishedPackage()
const root = fileURLToPath(new URL('../../', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const programs = [...readme.matchAll(/```ts\n(\/\/ books\.ts, on (\w+)[\s\S]*?)```/g)]

/** The README's program for a runtime, word for word but for its port. */
function program(runtime: string, port = 0): string {
  const found = programs.filter(([, , name]) => name === runtime)
  expect(found).toHaveLength(1)
  return found[0]?.[1]?.replace('port: 3000', `port: ${port}`) ?? ''
}

/** A consumer's project: the published package, and zod beside it. */
function project(file: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-readme-'))
  folders.push(folder)
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(built, join(folder, 'node_modules/fieldgate'))
  symlinkSync(join(root, 'node_modules/zod'), join(folder, 'node_modules/zod'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, file), text)
  return folder
}

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** The README's two requests. */
async function booksWork(base: string): Promise<void> {
  const created = await fetch(`${base}/books`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"title":"Cosmos","year":1980}',
  })
  expect(created.status).toBe(201)
  const found = await fetch(`${base}/books?s=cosm&year=1980`)
  expect(await found.json()).toMatchObject({
    success: true,
    data: [{ title: 'Cosmos', year: 1980 }],
  })
}

async function runs(command: readonly string[], folder: string, port: number): Promise<void> {
  const [name = '', ...args] = command
  const child = spawn(name, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const base = `http://127.0.0.1:${port}`
  try {
    await expect
      .poll(
        () =>
          fetch(base).then(
            ({ status }) => status,
            () => output || 'silent',
          ),
        { timeout: 300_000 },
      )
      .toBe(404)
    await booksWork(base)
  } finally {
    child.kill('SIGKILL')
  }
}

describe("the README's programs, word for word on the published package", () => {
  it('on Node', async () => {
    const [port = 0] = await freePorts(1)
    await runs([process.execPath, 'books.ts'], project('books.ts', program('Node', port)), port)
  })

  it('on Deno', async () => {
    const [port = 0] = await freePorts(1)
    const deno = join(root, 'node_modules/.bin/deno')
    await runs(
      [deno, 'run', '--allow-all', '--node-modules-dir=manual', 'books.ts'],
      project('books.ts', program('Deno', port)),
      port,
    )
  })

  it('on Workers', async () => {
    const folder = project('books.ts', program('Workers'))
    const { outputFiles } = await build({
      entryPoints: [join(folder, 'books.ts')],
      bundle: true,
      write: false,
      format: 'esm',
      conditions: ['workerd', 'worker', 'browser'],
      external: ['node:*', 'cloudflare:*'],
    })
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script: outputFiles[0]?.text ?? '',
        compatibilityDate: '2026-11-01',
        compatibilityFlags: ['nodejs_compat'],
        d1Databases: ['DB'],
        host: '127.0.0.1',
        port: 0,
      }),
    )
    try {
      await booksWork((await miniflare.ready).origin)
    } finally {
      await miniflare.dispose()
    }
  })
})
