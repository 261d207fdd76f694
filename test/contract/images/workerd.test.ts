/**
 * Optimisation of real photographs inside workerd.
 */

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import sharp from 'sharp'
import { afterAll, describe, expect, it } from 'vitest'
import { cat, difference, largeCat, lyingCat, mandrillWebp, type Photo } from './photos.ts'

/** Bundles the worker as wrangler does: WebAssembly stands beside it as modules. */
async function startWorker(): Promise<Miniflare> {
  const wasm = new Map<string, string>()
  const beside: Plugin = {
    name: 'wasm',
    setup(bundle) {
      bundle.onResolve({ filter: /\.wasm$/ }, ({ path, importer }) => {
        wasm.set(basename(path), createRequire(importer).resolve(path))
        return { path: `./${basename(path)}`, external: true }
      })
    },
  }
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['fieldgate-source', 'workerd', 'worker', 'browser'],
    external: ['node:*'],
    plugins: [beside],
  })
  const compiled = Array.from(wasm, async ([path, file]) => ({
    type: 'CompiledWasm' as const,
    path,
    contents: new Uint8Array(await readFile(file)),
  }))
  return new Miniflare(
    convertV4MiniflareOptions({
      modules: [
        { type: 'ESModule', path: 'worker.mjs', contents: outputFiles[0]?.text ?? '' },
        ...(await Promise.all(compiled)),
      ],
      compatibilityDate: '2026-11-01',
      compatibilityFlags: ['nodejs_compat'],
    }),
  )
}

describe('optimisation inside workerd', async () => {
  const worker = await startWorker()
  afterAll(() => worker.dispose())
  const optimise = async ({ type, bytes }: Photo, level: string) => {
    const headers = { 'content-type': type, 'x-level': level }
    const answer = await worker.dispatchFetch('http://localhost/', {
      method: 'POST',
      body: bytes,
      headers,
    })
    return { ok: answer.ok, bytes: new Uint8Array(await answer.arrayBuffer()) }
  }

  it('makes photographs smaller, with their colours', async () => {
    for (const photo of [cat, await mandrillWebp()]) {
      const { ok, bytes } = await optimise(photo, 'medium')
      expect(ok, new TextDecoder().decode(bytes.subarray(0, 200))).toBe(true)
      expect(bytes.length / photo.bytes.length).toBeGreaterThan(0.55)
      expect(bytes.length / photo.bytes.length).toBeLessThanOrEqual(0.65)
      expect(await difference(bytes, photo.bytes)).toBeLessThan(10)
    }
  })

  it('turns them upright', async () => {
    const { bytes } = await optimise(await lyingCat(), 'medium')
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 800, height: 1042 })
    expect(await difference(bytes, cat.bytes)).toBeLessThan(8)
  })

  it('leaves alone what a Worker has no memory for', async () => {
    const { ok, bytes } = await optimise(await largeCat(), 'high')
    expect([ok, new TextDecoder().decode(bytes)]).toEqual([
      false,
      'Error: 2400 × 3126 pixels need too much memory',
    ])
  })
})
