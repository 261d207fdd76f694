/**
 * `fieldgate copy ./src/app.ts --to mongodb://127.0.0.1:27017/app [--from sqlite:app.db] [--json]`
 *
 * @module
 */

import { CopyMismatch } from '../../src/copy/copy.ts'
import { commandLine, openApp, Unusable } from './command.ts'
import { copyWithBar, linesOf, openStore } from './stores.ts'

const USAGE = `Copies all records of your app's models from one store to another.

  fieldgate copy <module> --to <store> [--from <store>] [--json]

  <module>  the file that exports your app: export const app = createApp({ … })
  <store>   sqlite:<file>, mongodb://host/database or postgres://host/database[?schema=name]
  --from    default: the store of your app
  --json    one JSON value instead of lines: { ok, collections: [{ collection, source, target, copied, checksum }] }

Stop everything that writes to the source first. Run the command again to continue an interrupted copy.

Exit codes: 0 both sides are equal, 1 they differ, 2 the copy could not run.`

/** Runs the command; resolves to its exit code. */
export async function copy(args: readonly string[]): Promise<number> {
  const given = commandLine(args, USAGE, ['from', 'to'])
  if (!given) return 0
  const { module, json, values } = given
  if (!values.to) throw new Unusable('name the store to copy to: --to mongodb://host/database')
  const { app, host } = await openApp(module)
  const to = await openStore(values.to)
  const from = values.from ? await openStore(values.from) : host.database
  try {
    const collections = await copyWithBar(from, to, host.known(), process.stderr)
    console.log(json ? JSON.stringify({ ok: true, collections }) : linesOf(collections))
    return 0
  } catch (error) {
    if (!(error instanceof CopyMismatch)) throw error
    console.error(`fieldgate copy: ${error.message}`)
    if (json) console.log(JSON.stringify({ ok: false, collections: [] }))
    return 1
  } finally {
    await to.close()
    await from.close()
    await app.close()
  }
}
