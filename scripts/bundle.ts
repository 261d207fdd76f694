/**
 * The code that is published, made of `src` and `adapters`: a module for each name that package.json leads to, and
 * chunks that they share. `tsc` makes the declarations.
 *
 * Two things are done for those who import it. Node takes longer to find a module than to run it, so whatever an app is
 * made of is one chunk: every entry that is of use only within an app loads it. And bundlers of apps leave out what is
 * not used of that chunk, because calls that make a constant are marked as pure, which `sideEffects` of package.json
 * says of every module.
 *
 * @module
 */

import { globSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { parseSync, type VariableDeclarator, Visitor } from 'oxc-parser'
import { modules } from './entries.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

const DIST = join(root, 'dist')

/** What an app is made of. */
const CORE = 'src/index.ts'

/** The module of a thread, which is named by its path. */
const THREAD = 'adapters/stores/sqlite/reader.ts'

/** Names that are loaded without an app, in browsers and by adapters of other packages, or that load all they need later. */
const APART = /^(?:src\/(?:client|ports|uploads)|adapters\/(?:clients|passwords))\//

/** Writes the modules and their source maps into the folder `outdir`. */
export async function bundle(outdir: string): Promise<void> {
  const { named, chosen } = modules()
  const inApp = [...named.filter((path) => !APART.test(path)), ...loadedLater()]
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [...new Set([...named, ...chosen, THREAD])],
    // Wherever the package is built, its source maps and the names of its chunks are those of this folder.
    outdir: DIST,
    write: false,
    outbase: '.',
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2024',
    sourcemap: true,
    packages: 'external',
    // Chosen where the package runs.
    external: ['#*'],
    plugins: [sources(new Set(inApp))],
    logLevel: 'warning',
  })
  for (const { path, contents, text } of outputFiles) {
    const file = join(outdir, relative(DIST, path))
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, file.endsWith('.map') ? withAddresses(text, path) : contents)
  }
}

/** What an app loads later: without the core, whatever it shares with that would be cut into chunks of their own. */
function loadedLater(): string[] {
  return globSync('src/!(client)/**/*.ts', { cwd: root }).flatMap((path) => {
    const imports = readFileSync(join(root, path), 'utf8').matchAll(/ import\('(\.[^']+)'\)/g)
    return [...imports].map(([, name = '']) => join(dirname(path), name))
  })
}

/**
 * The source map `path` with addresses for the names of its sources. They are published within their maps only, and of a
 * relative name without a file Deno shows the line in the source, but the name of the chunk.
 */
function withAddresses(text: string, path: string): string {
  const map = JSON.parse(text) as { readonly sources: readonly string[] }
  const nameOf = (source: string) => `fieldgate:///${relative(root, join(dirname(path), source))}`
  return JSON.stringify({ ...map, sources: map.sources.map(nameOf) })
}

/** Reads the sources, and adds the import of the core to `inApp`. */
function sources(inApp: ReadonlySet<string>): Plugin {
  return {
    name: 'sources',
    setup({ onLoad, onResolve }) {
      // Otherwise an import of which nothing is used would be left out, and the core with it.
      const sideEffects = true
      onResolve({ filter: /^\.\.?\// }, ({ resolveDir, path }) => ({
        path: resolve(resolveDir, path),
        sideEffects,
      }))
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const name = relative(root, path)
        const contents = withPureCalls(path, await readFile(path, 'utf8'))
        const core = relative(join(path, '..'), join(root, CORE))
        const isInApp = inApp.has(name) && name !== CORE
        return { loader: 'ts', contents: isInApp ? `${contents}import './${core}'\n` : contents }
      })
    },
  }
}

/**
 * The code with every call marked as pure that is made when the module is loaded, for the value of a constant. So is what
 * spreads or joins other constants: bundlers take a spread and a template for calls.
 */
function withPureCalls(path: string, code: string): string {
  const starts = new Map<number, string>()
  const joined = new Set<VariableDeclarator>()
  const around: VariableDeclarator[] = []
  let later = 0
  const add = ({ start }: { readonly start: number }): void => {
    if (around.length > 0 && later === 0) starts.set(start, '/* @__PURE__ */ ')
  }
  const join = (): void => {
    const [outer] = around
    if (outer?.id.type === 'Identifier' && later === 0) joined.add(outer)
  }
  const enter = (): void => {
    later += 1
  }
  const exit = (): void => {
    later -= 1
  }
  const { program, errors } = parseSync(path, code)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  new Visitor({
    VariableDeclarator(node) {
      around.push(node)
    },
    'VariableDeclarator:exit'() {
      around.pop()
    },
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': exit,
    FunctionExpression: enter,
    'FunctionExpression:exit': exit,
    ArrowFunctionExpression: enter,
    'ArrowFunctionExpression:exit': exit,
    PropertyDefinition: enter,
    'PropertyDefinition:exit': exit,
    CallExpression: add,
    NewExpression: add,
    SpreadElement: join,
    TemplateLiteral({ expressions }) {
      if (expressions.length > 0) join()
    },
  }).visit(program)
  for (const { init } of joined) {
    if (!init) continue
    starts.set(init.start, `/* @__PURE__ */ (() => (${starts.get(init.start) ?? ''}`)
    starts.set(init.end, `))()${starts.get(init.end) ?? ''}`)
  }
  let made = ''
  let from = 0
  for (const [at, text] of [...starts].sort(([one], [other]) => one - other)) {
    made += code.slice(from, at) + text
    from = at
  }
  return made + code.slice(from)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle(DIST)
