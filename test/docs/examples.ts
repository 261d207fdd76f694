/**
 * The examples in doc comments, as programs whose types can be checked. An example may leave out its imports, and what
 * `GIVEN` has: readers see it in an editor, where every line counts.
 *
 * @module
 */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesOfNames } from './exported.ts'
import { type Block, blocksOf, root } from './pages.ts'
import type { Edition, File } from './programs.ts'

/** What examples use of a user's app, and types, which are imported as such. */
const GIVEN: readonly (readonly [name: string, line: string])[] = [
  ['app', `declare const app: import('fieldgate').App`],
  ['Store', `import type { Store } from 'fieldgate'`],
  ['store', `declare const store: import('fieldgate').Store`],
  ['files', `declare const files: import('fieldgate').FileStore`],
  ['secret', `declare const secret: string`],
  ['myStore', `declare const myStore: () => import('fieldgate').Store`],
  ['City', `declare const City: import('fieldgate').Model<{ name: string; country: string }>`],
  ['Note', `declare const Note: import('fieldgate').Model<{ text: string }>`],
  ['Product', `declare const Product: import('fieldgate/mongoose').MongooseModel`],
  ['User', `declare const User: import('fieldgate').Model<{ name?: string; email?: string }>`],
  [
    'Env',
    `interface Env { DB: import('fieldgate/d1').D1Binding; FILES: import('fieldgate/r2').R2Binding; API: unknown; MONGODB_URI: string; SECRET: string }`,
  ],
  ['describe', `import { describe } from 'node:test'`],
  ['it', `import { it } from 'node:test'`],
  ['process', `import process from 'node:process'`],
  ['z', `import * as z from 'zod'`],
]

/** Every example in the doc comments of the package, each as a program of its own. */
export function examples(): Edition[] {
  const entries = filesOfNames().map(([name, files]) => ({ name, files: [...files] }))
  const pages = globSync('{src,extras,adapters}/**/*.ts', { cwd: root }).toSorted()
  return pages.flatMap((page) => {
    const own = entries.filter(({ files }) => files.some(([, file]) => file === page))
    // Of names that several entries have, an example means that of its own entry, or else of the first.
    const nearest = [...own, ...entries].toReversed()
    const imports = nearest.flatMap(({ name: entry, files }) =>
      files.map(([name]) => [name, `import { ${name} } from '${entry}'`] as const),
    )
    const known = new Map([...imports, ...GIVEN])
    return examplesIn(page).map((block, index) => {
      const file = withKnown(block, known)
      const files = new Map([[file.name, file]])
      return { page, number: index + 1, files, commands: [], isOnAtlas: false }
    })
  })
}

/** The blocks of code in the doc comments of a file, with the lines that they have there. */
function examplesIn(page: string): Block[] {
  const source = readFileSync(join(root, page), 'utf8')
  const comments = source.replace(/\/\*\*[^]*?\*\/|.+/g, (found) =>
    found.startsWith('/**') ? found.replace(/^ *(?:\/\*\*|\*\/|\* ?)/gm, '') : '',
  )
  return blocksOf(page, comments).filter(({ language }) => language === 'ts')
}

/** An example after a line with what it leaves out. */
function withKnown({ line, text: example }: Block, known: ReadonlyMap<string, string>): File {
  const declared = [...example.matchAll(/(?:const|import) ([^=]*?) (?:=|from)/g)]
  const own = new Set(declared.flatMap(([, names = '']) => names.match(/[\w$]+/g) ?? []))
  const used = example.match(/(?<![\w$]|[\w$)\]]\.)[A-Za-z_$][\w$]*\b(?!:)/g) ?? []
  const missing = [...new Set(used)].filter((name) => known.has(name) && !own.has(name))
  const text = `${missing.map((name) => known.get(name)).join('; ')}\n${example}`
  const lines = text.split('\n').map((_, index) => line + index)
  return { name: `example-${line}.ts`, runtime: 'Node', isRun: false, text, lines }
}
