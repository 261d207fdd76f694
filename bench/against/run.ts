/**
 * `npm run bench -- --against <commit>`: this tree beside another commit, in alternating rounds, with a verdict on each row.
 *
 * @module
 */

import { COLD_START } from '../cold-start.ts'
import { machineLine } from '../results.ts'
import type { StoreName } from '../servers.ts'
import type { Settings } from '../settings.ts'
import { inColumns, median } from '../table.ts'
import { DATABASES } from '../work.ts'
import { chosen, works } from '../works.ts'
import { type Checkout, checkedOut, thisTree } from './checkout.ts'
import { pinned } from './pinned.ts'
import { Failure, type Figures, measureBoth, type Round } from './rounds.ts'
import { type Side, sideOf } from './sides.ts'
import { estimateOf, untilClear, type Verdict } from './verdict.ts'

/** What becomes of a row. */
interface Told {
  readonly name: string
  readonly is: 'fine' | 'slower' | 'unclear'
}

/** Compares this tree with `commit` and prints a table. Returns whether no row is slower by 5 % or more, beyond its noise. */
export async function isAsFast(commit: string, settings: Settings): Promise<boolean> {
  const launcher = pinned()
  const [own, other] = [thisTree(), checkedOut(commit)]
  process.once('exit', other.remove)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const where = launcher.length > 0 ? `on ${launcher.join(' ')}` : 'on any processor'
  console.log(`${own.name} against ${other.name}, servers ${where}`)
  let isFine = true
  for (const store of settings.stores) {
    if (!DATABASES.includes(store)) throw new Error(`--against can't compare ${store}`)
    const ours = await prepared(own, store, settings, launcher)
    const theirs = await prepared(other, store, settings, launcher)
    isFine = (await compareOn(store, ours, theirs, settings)) && isFine
    for (const { database } of [ours, theirs]) await database.close()
  }
  return isFine
}

function prepared(
  tree: Checkout,
  store: StoreName,
  { size }: Settings,
  launcher: readonly string[],
): Promise<Side> {
  console.log(`${store}, ${size} records: preparing ${tree.name}`)
  return sideOf(tree, store, size, launcher)
}

async function compareOn(
  store: StoreName,
  ours: Side,
  theirs: Side,
  settings: Settings,
): Promise<boolean> {
  console.log(`${machineLine()}; rounds of 4 × ${settings.seconds} s; medians
CPU: processor time of a request, in µs, and how many times that of ${theirs.server.name} it is; req/s likewise\n`)
  console.log(line(['row', 'c', 'CPU µs', 'then', 'times', '', 'req/s times', '', 'n', 'verdict']))
  const all = works(ours.database)
  const rows = all.filter(
    ({ burden, cold, stores = DATABASES }) => !burden && !cold && stores.includes(store),
  )
  const names = chosen([...rows.map(({ name }) => name), COLD_START], settings.works)
  const told: Told[] = []
  for (const name of names) {
    const counts = name === COLD_START ? [1] : settings.connections
    for (const connections of counts) {
      told.push({ name, is: await compareRow(name, connections, ours, theirs, settings) })
    }
  }
  console.log(`\n${machineLine()}`)
  const namesOf = (is: Told['is']) =>
    told
      .filter((row) => row.is === is)
      .map((row) => row.name)
      .join(', ') || 'none'
  console.log(`slower by 5 % or more, beyond their noise: ${namesOf('slower')}`)
  console.log(`a change of 5 % can't be excluded: ${namesOf('unclear')}`)
  return !told.some(({ is }) => is === 'slower')
}

/** What becomes of a row; its line is printed. What the other commit can't do yet is no regression. */
async function compareRow(
  name: string,
  connections: number,
  ours: Side,
  theirs: Side,
  settings: Settings,
): Promise<Told['is']> {
  const asked = { name, connections, seconds: settings.seconds }
  const measure = (round: number) => measureBoth(ours, theirs, asked, round)
  try {
    const { seen, verdict } = await untilClear(
      settings.rounds,
      measure,
      (round) => round.ours.cpuMicroseconds / round.theirs.cpuMicroseconds,
    )
    console.log(lineOf(name, connections, seen, verdict))
    if (verdict.isSlower) return 'slower'
    return verdict.isClear ? 'fine' : 'unclear'
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    console.log(`${line([name, String(connections)])} not measured: ${error.message}`)
    return error.side === theirs ? 'unclear' : 'slower'
  }
}

function lineOf(
  name: string,
  connections: number,
  seen: readonly Round[],
  { ratio, low, high, text }: Verdict,
): string {
  const cpu = (pick: (round: Round) => Figures) =>
    median(seen.map((round) => pick(round).cpuMicroseconds)).toFixed(1)
  const wall = estimateOf(
    seen.map(({ ours, theirs }) => ours.requestsPerSecond / theirs.requestsPerSecond),
  )
  return line([
    name,
    String(connections),
    cpu((round) => round.ours),
    cpu((round) => round.theirs),
    ratio.toFixed(2),
    `(${low.toFixed(2)}–${high.toFixed(2)})`,
    wall.ratio.toFixed(2),
    `(${wall.low.toFixed(2)}–${wall.high.toFixed(2)})`,
    String(seen.length),
    text,
  ])
}

const WIDTHS = [18, 3, 9, 9, 6, 11, 12, 11, 3, 0]

function line(cells: readonly string[]): string {
  return inColumns(cells, WIDTHS, [0]).trimEnd()
}
