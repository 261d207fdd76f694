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

export const copy: Run = command({
  usage: USAGE,
  names: ['from', 'to'],
  flags: ['convert'],
  async run({ json, flags, values }, open, keep) {
    const { from, to } = values
    if (!to) throw new Unusable('name the store to copy to: --to mongodb://host/database')
    checkAddress('--to', to)
    if (from !== undefined) checkSource('--from', from)
    const { host } = await open(from === undefined ? 'existing' : 'none')
    openFilesAs('make')
    const convert = flags.has('convert')
    const end = await copyStores({
      from: from === undefined ? host.database : keep(await openStore(from, values)),
      to: async () => keep(await openStore(to, values)),
      ...{ models: host.known(), convert, stream: process.stderr },
    })
    if (json) console.log(JSON.stringify(end))
    else if (end.ok) console.log(linesOf(end.collections))
    else if (end.lost.length > 0 && !convert) console.log(lossesOf(end.lost))
    if (end.error) console.error(`fieldgate copy: ${end.error}`)
    return end.ok ? 0 : 1
  },
})
