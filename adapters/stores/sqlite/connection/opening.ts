/**
 * How this process opens database files. An app makes a file that isn't there; a command that reads must not, because a
 * wrong folder or a missing variable would look like a new database.
 */

export const MEMORY = ':memory:'

/** `existing`: throws if the file isn't there. `none`: opens no file; the app's store is not needed. */
export type Opening = 'make' | 'existing' | 'none'

let opening: Opening = 'make'

/** From now on, this process opens files so. For commands; stores that are open stay as they are. */
export function openFilesAs(how: Opening): void {
  opening = how
}

export function pathToOpen(path: string): string {
  if (path === MEMORY || opening === 'make') return path
  if (opening === 'none') return MEMORY
  // Where there are no files, nothing is opened by path.
  const { existsSync } = process.getBuiltinModule('node:fs')
  const { isAbsolute } = process.getBuiltinModule('node:path')
  if (existsSync(path)) return path
  const place = isAbsolute(path) ? `'${path}'` : `'${path}' in ${process.cwd()}`
  throw new Error(`there is no file ${place}. Your app makes its database at its first start`)
}
