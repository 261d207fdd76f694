import { collectionSchema } from '../../src/model/collection-schema.ts'
import { countedRecords } from '../../src/upkeep/tally.ts'
import { backUp, refuseExisting } from '../stores/sqlite/connection/backup.ts'
import { MEMORY } from '../stores/sqlite/connection/opening.ts'
import type { SqliteStore } from '../stores/sqlite/node.ts'
import { command, type Run, Unusable } from './command.ts'

const USAGE = `Copies the SQLite database of your app, or its file of libSQL, to a new file, while the app serves.

  fieldgate backup <module> --to <file> [--json]

  <module>  the file that exports your app: export const app = createApp({ … })
  --to      the new file; it must not exist
  --json    one JSON value instead of lines: { file, bytes, collections: [{ name, records }] }

The copy holds everything that was written before the command began. It is checked, and its records are counted.
Uploaded files are not in it. To restore, stop the app and put the copy in the place of the database; remove the files
that end in -wal and -shm beside it.

Exit codes: 0 the copy is there, 1 it is there and has no table of your models, 2 it could not be made.`

/** How to back up what this command does not. */
const OTHERS: Readonly<Record<string, string>> = {
  postgres: 'Use pg_dump: docs/operations.md#backups',
  mongodb: 'Use mongodump --oplog: docs/operations.md#backups',
  libsql: "Use your provider's backups",
  d1: 'Use Time Travel, or wrangler d1 export: docs/operations.md#backups',
}

export const backup: Run = command({
  usage: USAGE,
  names: ['to'],
  async run({ json, values: { to } }, open) {
    if (!to) throw new Unusable('name the new file: --to backup.db')
    refuseExisting(to)
    const { host } = await open()
    const { name = '', path } = host.database as Partial<SqliteStore>
    if (!/^(?:sqlite|libsql)$/.test(name) || path === undefined) {
      throw new Unusable(
        `backup copies SQLite files, and the app's store is '${name}'. ${OTHERS[name] ?? 'Use what its database has for backups'}`,
      )
    }
    if (path === MEMORY) throw new Unusable(`the app's store is in memory, where nothing is kept`)
    const made = { file: to, ...backUp(path, to) }
    console.log(json ? JSON.stringify(made) : linesOf(made))
    const wanted = [...host.known()].map((model) => collectionSchema(model).name)
    const isOther = !made.collections.some((collection) => wanted.includes(collection.name))
    if (!isOther || wanted.length === 0) return 0
    console.error(
      `fieldgate backup: '${path}' has no table of your models (${wanted.join(', ')}): is it the right file?`,
    )
    return 1
  },
})

function linesOf(made: { file: string } & ReturnType<typeof backUp>): string {
  const records = made.collections.map((one) => `${one.name}: ${countedRecords(one.records)}`)
  return [...records, `${made.file}: ${(made.bytes / 1e6).toFixed(1)} MB, checked`].join('\n')
}
