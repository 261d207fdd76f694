import { collectionSchema } from '../../src/model/collection-schema.ts'
import { firstIn, readable } from '../../src/ports/evaluation/walk.ts'
import { everything } from '../../src/ports/store/filter.ts'
import type { Host } from '../../src/records/engine/host.ts'
import { type BackfillResult, backfillRecords } from '../../src/upkeep/changes/backfill.ts'
import { historySchema } from '../../src/upkeep/changes/model-history.ts'
import { tableOf } from '../../src/upkeep/check/table.ts'
import { counted } from '../../src/upkeep/tally.ts'
import { bar, command, nothingIn, type Run } from './command.ts'

const USAGE = `Stores what your app shows of old records: fields under the current names, converted values and defaults.

  fieldgate backfill <module> [--json]

  <module>  the file that exports your app: export const app = createApp({ … })
  --json    one JSON value instead of lines:
            { ok, models: [{ model, records, changed }], problems: [{ model, problem, field, count, examples }],
              dropped: [{ collection, what }] }

Your app may serve meanwhile. Stop earlier versions of it first: they look for fields under their earlier names, and the
indexes that only they need are dropped. An interrupted run continues where it stopped when you run the command again.

Exit codes: 0 every record fits its model now, 1 some could not be made to fit, 2 the backfill could not run.`

export const backfill: Run = command({
  usage: USAGE,
  async run({ json }, open) {
    const { host } = await open()
    const { stored, history, database, schemas } = host
    if (await isNew(host)) {
      const nothing: BackfillResult = { ok: true, models: [], problems: [], dropped: [] }
      console.log(json ? JSON.stringify(nothing) : await nothingIn(host))
      return 0
    }
    // Not a whole start-up: that may refuse to run until this has run.
    await database.prepare(schemas())
    const target = { models: [...host.known()], stored, history, database, schemas }
    const result = await backfillRecords(target, bar(process.stderr))
    console.log(json ? JSON.stringify(result) : textOf(result))
    return result.ok ? 0 : 1
  },
})

/** Whether no app has started with this database, and no other program has stored anything for the models. */
async function isNew({ database, known }: Host): Promise<boolean> {
  for (const schema of [historySchema, ...[...known()].map((model) => collectionSchema(model))]) {
    if (await firstIn(await readable(database.collection(schema)), everything)) return false
  }
  return true
}

function textOf({ models, problems, dropped }: BackfillResult): string {
  const lines = models.map(
    ({ model, records, changed }) =>
      `${model}: ${counted(changed)} of ${counted(records)} records changed`,
  )
  const drops = dropped.map(({ collection, what }) => `${collection}: dropped ${what}`)
  return [...lines, ...drops, ...(problems.length === 0 ? [] : ['', tableOf(problems)])].join('\n')
}
