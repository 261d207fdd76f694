import type { ConsumerStatus } from '../../src/records/engine/background-work.ts'
import { table } from '../../src/upkeep/check/table.ts'
import { counted } from '../../src/upkeep/tally.ts'
import { command, type Run, Unusable } from './command.ts'

const USAGE = `Prints the consumers and webhooks of your app: how far each is behind, and what was set aside.

  fieldgate changes <module> [--retry <name>] [--json]

  <module>  the file that exports your app: export const app = createApp({ … })
  --retry   tries again what a consumer has set aside; webhooks are sent again to endpoints that responded with 410
  --json    prints [{ name, isRunning, behind, waiting, aside, examples, gone }], or with --retry { name, retried }

Your app may serve meanwhile: it does what is tried again within a few seconds.

Exit codes: 0 fine, 1 something was set aside, 2 could not run.`

export const changes: Run = command({
  usage: USAGE,
  names: ['retry'],
  async run({ json, values: { retry: name } }, open) {
    const { app } = await open()
    const all = app.background.filter(({ retry }) => retry)
    const one = all.find((work) => work.name === name)
    if (name !== undefined && !one) {
      const names = all.map((work) => work.name).join(', ') || 'none'
      throw new Unusable(`there is no consumer '${name}'. There are: ${names}`)
    }
    await app.ready()
    if (name !== undefined) {
      const retried = (await one?.retry?.()) ?? 0
      console.log(json ? JSON.stringify({ name, retried }) : `${name}: ${retried} are tried again`)
      return 0
    }
    const found = await Promise.all(all.map((work) => work.status()))
    const consumers = found.filter((work) => work.kind === 'consumer')
    console.log(
      json ? JSON.stringify(consumers.map(({ kind: _, ...rest }) => rest)) : textOf(consumers),
    )
    return consumers.some(({ aside, gone }) => aside > 0 || gone.length > 0) ? 1 : 0
  },
})

function textOf(all: readonly ConsumerStatus[]): string {
  const head = ['consumer', 'running', 'behind since', 'waiting', 'set aside']
  const rows = all.map(({ name, isRunning, behind, waiting, aside }) => [
    ...[name, isRunning ? 'yes' : 'no', behind?.toISOString() ?? ''],
    ...[counted(waiting), counted(aside)],
  ])
  const details = ['set aside by', 'model', 'record', 'to', 'tries', 'since', 'error']
  const aside = all.flatMap(({ name, examples }) =>
    examples.map(({ model, record, to, attempts, since, error }) => [
      ...[name, model, record, to, `${attempts}`, since.toISOString(), error],
    ]),
  )
  const gone = all.flatMap(({ name, gone: urls }) =>
    urls.map((url) => [`${name}: ${url} has responded with 410`]),
  )
  return [
    table([head, ...rows]),
    ...(aside.length > 0 ? ['', table([details, ...aside])] : []),
    ...(gone.length > 0 ? ['', table(gone)] : []),
  ].join('\n')
}
