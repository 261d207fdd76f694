/**
 * `fieldgate backup ./src/app.ts --to backup.db [--json]`
 *
 * @module
 */

import { backUp } from '../stores/sqlite/backup.ts'
import type { SqliteStore } from '../stores/sqlite/node.ts'
import { commandLine, openApp, Unusable } from './command.ts'

const USAGE = `Copies the SQLite database of your app to a new file, while the app serves.

  fieldgate backup <module> --to <file> [--json]

  <module>  the file that exports your app: export const app = createApp({ … })
  --to      the new file; it must not exist
  --json    one JSON value instead of lines: { file, bytes, collections: [{ name, records }] }

The copy holds everything that was written before the command began. It is checked, and its records are counted.
Uploaded files are not in it. To restore, stop the app and put the copy in the place of the database; remove the files
that end in -wal and -shm beside it.

Exit codes: 0 the copy is there, 2 it could not be made.`

/** Runs the command; resolves to its exit code. */
export async function backup(args: readonly string[]): Promise<number> {
  const given = commandLine(args, USAGE, ['to'])
  if (!given) return 0
  const { module, json, values } = given
  if (!values.to) throw new Unusable('name the new file: --to backup.db')
  const { app, host } = await openApp(module)
  try {
    const { name, path } = host.database as Partial<SqliteStore>
    if (name !== 'sqlite' || path === undefined || path === ':memory:') {
      throw new Unusable(
        `the app's store is ${name === 'sqlite' ? 'in memory' : `'${name}'`}: backup copies SQLite files. The manual says how to back up others`,
      )
    }
    const made = { file: values.to, ...backUp(path, values.to) }
    console.log(json ? JSON.stringify(made) : linesOf(made))
    return 0
  } finally {
    await app.close()
  }
}

function linesOf({
  file,
  bytes,
  collections,
}: { file: string } & ReturnType<typeof backUp>): string {
  const records = collections.map(
    ({ name, records }) => `${name}: ${records.toLocaleString('en')} records`,
  )
  return [...records, `${file}: ${(bytes / 1e6).toFixed(1)} MB, checked`].join('\n')
}
