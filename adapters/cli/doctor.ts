import { routeServedBy } from '../../src/auth/instance/instance.ts'
import { misreadAs } from '../../src/auth/setup/identifiers.ts'
import type { Model } from '../../src/model/model.ts'
import type { Store } from '../../src/ports/store/store.ts'
import type { Host } from '../../src/records/engine/host.ts'
import { table } from '../../src/upkeep/check/table.ts'
import { type Diagnosis, examine, type Patient } from '../../src/upkeep/doctor/doctor.ts'
import type { AccountIdentifier, Finding } from '../../src/upkeep/doctor/records.ts'
import { counted } from '../../src/upkeep/tally.ts'
import { bar, type CommandLine, command, packageFolder, type Run, Unusable } from './command.ts'
import { checkAddress, openStore } from './stores.ts'
import { upgradeOf, upgradeText } from './upgrade.ts'

const USAGE = `Looks at a MongoDB database that another program set up, Mongoose for example, and tells what your app would not
find, show or keep. Nothing is written, and the app does not start.

  fieldgate doctor <module> [--mongo <url>] [--json]

  <module>  the file that exports your app: export const app = createApp({ … })
  --mongo   the database, mongodb://host/database. Default: the store of your app
  --json    one JSON value instead of the table:
            { database, ok, problems: [{ model, problem, field, count, examples, note }], notes: [the same] }

With --upgrade it tells instead which upgrade notes concern the project in this folder, between the version that it has
and this one, and where your code names what they are about. Your app is not loaded.

  fieldgate doctor --upgrade [--since <version>] [--json]

  --since   the version that you come from. Default: the one that is installed in this folder, so ask the new one
            before you install it: npx fieldgate@latest doctor --upgrade
  --json    { from, to, notes: [{ version, kind, text, places }] }

Exit codes: 0 fine, 1 problems found, 2 could not run.`

export const doctor: Run = command({
  usage: USAGE,
  names: ['mongo', 'since'],
  flags: ['upgrade'],
  async run(line, open, keep) {
    checkOptions(line)
    const { values, flags, json } = line
    if (flags.has('upgrade')) {
      const upgrade = upgradeOf(packageFolder(), process.cwd(), values.since)
      console.log(json ? JSON.stringify(upgrade) : upgradeText(upgrade))
      return upgrade.notes.some(({ places }) => places.length > 0) ? 1 : 0
    }
    const { mongo } = values
    const { host } = await open(mongo === undefined ? 'existing' : 'none')
    const database = mongo === undefined ? host.database : keep(await openStore(mongo))
    const diagnosis = await examine(patientOf(host, database), bar(process.stderr))
    console.log(json ? JSON.stringify(diagnosis) : textOf(diagnosis))
    return diagnosis.ok ? 0 : 1
  },
})

function checkOptions({ values: { mongo, since }, flags }: CommandLine): void {
  const isUpgrade = flags.has('upgrade')
  if (isUpgrade && mongo !== undefined) throw new Unusable('--mongo does not go with --upgrade')
  if (!isUpgrade && since !== undefined) throw new Unusable('--since goes with --upgrade')
  if (mongo === undefined) return
  if (!mongo.startsWith('mongodb')) {
    throw new Unusable('--mongo is an address such as mongodb://host/database')
  }
  checkAddress('--mongo', mongo)
}

function patientOf(host: Host, database: Store): Patient {
  if (!database.surroundings) {
    throw new Unusable(
      `it looks at MongoDB, and the app's store is '${database.name}'. Name the database: --mongo mongodb://host/database. For other stores, use fieldgate check`,
    )
  }
  const identifiers = new Map<Model, readonly AccountIdentifier[]>()
  for (const { handler } of host.mounted.flatMap(({ routes }) => routes)) {
    const settings = routeServedBy(handler)?.auth.settings
    if (!settings) continue
    const examined = settings.identifiers.map((one): AccountIdentifier => {
      const misread = (name: string) => {
        const kind = misreadAs(one, name, settings.identifiers)
        return (
          kind &&
          `it reads as ${kind}, so a sign-in may find the account with that one instead; choose another name`
        )
      }
      return { field: one.field, normalize: one.normalize, misread }
    })
    // All auth routers of a model have the same.
    identifiers.set(settings.model, examined)
  }
  return { database, models: [...host.known()], identifiers }
}

function textOf({ database, problems, notes }: Diagnosis): string {
  const found = `Database '${database}':${problems.length === 0 ? ' no problems found.' : `\n\n${tableOf(problems)}`}`
  return notes.length === 0
    ? found
    : `${found}\n\nNo problem, but worth knowing:\n\n${tableOf(notes)}`
}

function tableOf(findings: readonly Finding[]): string {
  return table([
    ['model', 'problem', 'field', 'count', 'for example', 'what it means'],
    ...findings.map(({ model, problem, field, count, examples, note }) => [
      model,
      problem,
      field || '-',
      count === 0 ? '-' : counted(count),
      examples.join(' ') || '-',
      note,
    ]),
  ])
}
