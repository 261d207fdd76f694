import type { BackgroundWork } from '../../src/records/engine/background-work.ts'
import { counted } from '../../src/upkeep/tally.ts'
import { openFilesAs } from '../stores/sqlite/connection/opening.ts'
import { command, type Run, Unusable } from './command.ts'
import { copy as copyStores, linesOf, lossesOf } from './copying.ts'
import { checkAddress, checkSource, openStore, STORES } from './stores.ts'

const USAGE = `Copies all records of your app's models from one store to another.

  fieldgate copy <module> --to <store> [--from <store>] [--convert] [--json]
                            [--config <wrangler.toml>] [--env <environment>]

  <module>   the file that exports your app: export const app = createApp({ … })
  ${STORES}
  --from     default: the store of your app
  --convert  copy values that the target can't hold as something else; without it, they are listed, and nothing is written
  --json     one JSON value instead of lines: { ok, collections: [{ collection, source, target, copied, checksum }],
             lost: [{ collection, field, type, becomes, count, examples }], error }

Stop everything that writes to the source first. Run the command again to continue an interrupted copy.

Exit codes: 0 both sides are equal, 1 they are not, or the target can't hold what the source has, 2 the copy could not
run.`

/** What consumers and webhooks of the source have not done. */
async function undoneBy(all: readonly BackgroundWork[]): Promise<string[]> {
  // A source without their collections has never run them.
  const found = await Promise.all(all.map((work) => work.status().catch(() => undefined)))
  return found.flatMap((one) => {
    if (one?.kind !== 'consumer' || !(one.behind || one.waiting + one.aside > 0)) return []
    const behind = one.behind ? `, and those since ${one.behind.toISOString()} to come` : ''
    return `${one.name} has ${counted(one.waiting)} changes waiting, ${counted(one.aside)} set aside${behind}. They are not copied: in the target it never gets them`
  })
}

export const copy: Run = command({
  usage: USAGE,
  names: ['from', 'to'],
  flags: ['convert'],
  async run({ json, flags, values }, open, keep) {
    const { from, to } = values
    if (!to) throw new Unusable('name the store to copy to: --to mongodb://host/database')
    checkAddress('--to', to)
    if (from !== undefined) checkSource('--from', from)
    const { host, app } = await open(from === undefined ? 'existing' : 'none')
    const undone = from === undefined ? await undoneBy(app.background) : []
    openFilesAs('make')
    const convert = flags.has('convert')
    const end = await copyStores({
      from: from === undefined ? host.database : keep(await openStore(from, values)),
      to: async () => keep(await openStore(to, values)),
      ...{ models: host.known(), convert, stream: process.stderr },
    })
    for (const line of undone) console.error(line)
    if (json) console.log(JSON.stringify(end))
    else if (end.ok) console.log(linesOf(end.collections))
    else if (end.lost.length > 0 && !convert) console.log(lossesOf(end.lost))
    if (end.error) console.error(`fieldgate copy: ${end.error}`)
    return end.ok ? 0 : 1
  },
})
