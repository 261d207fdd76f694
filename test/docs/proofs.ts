/**
 * The tests that pages of the manual name as proof, by file and title.
 *
 * @module
 */

import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './pages.ts'

/** A test that a row names: its file or folder, and its title; undefined for the whole file. */
export function namedIn(how: string): { readonly path: string; readonly title?: string }[] {
  let path = ''
  return [...how.matchAll(/`(test\/[^`]+)`|"([^"]+)"/g)].flatMap(([, file, title]) => {
    if (file !== undefined) path = file
    return path === '' ? [] : [file === undefined && title ? { path, title } : { path }]
  })
}

/** The sources of a test, and of what it imports from beside it. */
function sourcesOf(path: string): string {
  const isFolder = statSync(join(root, path)).isDirectory()
  const files = isFolder ? globSync(`${path}/**/*.ts`, { cwd: root }) : [path]
  return files
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      const beside = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, other = '']) =>
        join(root, dirname(file), other),
      )
      return [text, ...beside.filter(existsSync).map((other) => readFileSync(other, 'utf8'))]
    })
    .join('\n')
    .replaceAll("\\'", "'")
}

/** Those that a row names and that aren't there. */
export function missingIn(how: string): { readonly path: string; readonly title?: string }[] {
  return namedIn(how).filter(({ path, title }) => {
    if (!existsSync(join(root, path))) return true
    return title !== undefined && !sourcesOf(path).includes(title)
  })
}
