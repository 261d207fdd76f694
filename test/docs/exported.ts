/**
 * What package.json's entries export, by name alone: a parser reads that of the sources in a hundredth of the time that the
 * compiler takes.
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { onDeno, readNames } from '../../scripts/entries.ts'
import { root } from './pages.ts'

/** The entries in the order of package.json, as you import them (`fieldgate/node`), each with the files of its names. */
export function filesOfNames(): [entry: string, files: ReadonlyMap<string, string>][] {
  const { exports } = onDeno(readNames('package.json'))
  return Object.entries(exports).map(([name, file]) => [
    name.replace('.', 'fieldgate'),
    filesOf(join(`${file}`)),
  ])
}

const known = new Map<string, ReadonlyMap<string, string>>()

/** The names that a file exports, each with the file that declares it. */
function filesOf(file: string): ReadonlyMap<string, string> {
  const found = known.get(file) ?? new Map(exportsOf(file))
  known.set(file, found)
  return found
}

function exportsOf(file: string): (readonly [name: string, file: string])[] {
  const { module } = parseSync(file, readFileSync(join(root, file), 'utf8'))
  return module.staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ exportName, importName, moduleRequest }) => {
      if (!moduleRequest) return [[exportName.name ?? '', file] as const]
      const from = filesOf(join(file, '..', moduleRequest.value))
      if (importName.kind === 'AllButDefault') return [...from]
      return [[exportName.name ?? '', from.get(importName.name ?? '') ?? file] as const]
    })
}
