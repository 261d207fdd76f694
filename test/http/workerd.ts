/**
 * The black-box suite's server on workerd: bundled as wrangler would, run by miniflare with a real D1.
 *
 * @module
 */

import { builtinModules, isBuiltin } from 'node:module'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { startLibsql } from '../services/libsql.ts'
import type { Running } from './runtimes.ts'

/** Asked for what Node has alone: each question takes longer than to bundle what it is about. */
const ofNode = new RegExp(`^(?:node:)?(?:${builtinModules.join('|')})$`)

/** workerd has Node's modules for `import`, by their full names; packages ask otherwise. wrangler does the same. */
const nodeModules: Plugin = {
  name: 'node-modules',
  setup(bundler) {
    bundler.onResolve({ filter: ofNode }, ({ path, kind }) =>
      isBuiltin(path) && (kind === 'require-call' || !path.startsWith('node:'))
        ? { path: path.replace(/^node:/, ''), namespace: 'required' }
        : undefined,
    )
    bundler.onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: `export * from 'node:${path}'; export { default } from 'node:${path}'`,
    }))
  },
}

/** Bundles a module for workerd. */
export async function bundled(entry: URL, minify = false): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    conditions: ['fieldgate-source', 'workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    minify,
    plugins: [nodeModules],
    logLevel: 'error',
  })
  return outputFiles[0]?.text ?? ''
}

/** Starts the atlas on workerd, on D1. */
export function startWorkerd(): Promise<Running> {
  return running('worker', { d1Databases: ['DB'] })
}

/** Starts the atlas on workerd, with a server of libSQL of its own. */
export async function startLibsqlWorker(): Promise<Running> {
  const { url, stop } = await startLibsql('a token')
  const server = await running('libsql-worker', { bindings: { STORE: url, TOKEN: 'a token' } })
  return {
    ...server,
    async stop() {
      await server.stop()
      await stop()
    },
  }
}

/** Starts the atlas on workerd, in a Durable Object that keeps the records. */
export function startDurable(): Promise<Running> {
  return running('durable', { durableObjects: { API: { className: 'Api', useSQLite: true } } })
}

/**
 * Starts the atlas on workerd, in Durable Objects that hold the sockets to the store at an address; to PostgreSQL
 * through Hyperdrive.
 */
export function startObjects(store: string): Promise<Running> {
  const durableObjects = { API: 'Api' }
  return store.startsWith('mongodb')
    ? running('object', { durableObjects, bindings: { STORE: store } })
    : running('object', { durableObjects, ...throughHyperdrive(store) })
}

/** Starts the atlas on workerd, without Durable Objects, on PostgreSQL through Hyperdrive. */
export function startHyperdrive(store: string): Promise<Running> {
  return running('hyperdrive', throughHyperdrive(store))
}

function throughHyperdrive(store: string) {
  const database = new URL(store)
  const schema = database.searchParams.get('schema')
  database.search = ''
  // Hyperdrive demands a password, and the server under test asks for none.
  database.password ||= 'none'
  return { bindings: { SCHEMA: schema }, hyperdrives: { HYPERDRIVE: database.href } }
}

async function running(
  server: 'worker' | 'object' | 'hyperdrive' | 'durable' | 'libsql-worker',
  bindings: Partial<Parameters<typeof convertV4MiniflareOptions>[0]>,
): Promise<Running> {
  const script = await bundled(new URL(`./servers/${server}.ts`, import.meta.url))
  const begun = performance.now()
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script,
      compatibilityDate: '2026-11-01',
      compatibilityFlags: ['nodejs_compat'],
      host: '127.0.0.1',
      port: 0,
      ...bindings,
    } as Parameters<typeof convertV4MiniflareOptions>[0]),
  )
  const base = (await miniflare.ready).origin
  return { base, startedInMs: performance.now() - begun, stop: () => miniflare.dispose() }
}
