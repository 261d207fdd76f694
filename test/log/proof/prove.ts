/**
 * The proof of the log and of live lists: eight writers in two processes of which one is killed now and then, clients whose
 * connections are cut, and readers of the log. In the end nothing may be missing, twice or out of order.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { LoggedChange } from '../../../src/ports/store/changes.ts'
import { Follower } from './followers.ts'
import { Servers } from './servers.ts'
import { appAt, faultsOf, follow, PATIENCE_MS, type Place, startOf, writeLast } from './world.ts'

/** How much of what. */
export interface Size {
  /** Changes in the log, at least. */
  readonly writes: number
  readonly cuts: number
  readonly kills: number
}

/** What was seen. */
export interface Proof extends Size {
  /** What the log had wrong, by its readers and by the records that are there. */
  readonly faults: readonly string[]
  /** Events of a connection that did not come after the one before them. */
  readonly outOfOrder: number
  /** Clients whose records are not their list in the end. */
  readonly wrong: readonly string[]
  /** How long it was written, in seconds. */
  readonly seconds: number
}

const FOLLOWERS = 20

/** Proves it at a place that nothing else uses. */
export async function prove(place: Place, size: Size): Promise<Proof> {
  const app = await appAt(place)
  const from = await startOf(app)
  const last = Promise.withResolvers<string>()
  const found: LoggedChange[] = []
  const readers = [follow(app, from, last.promise, 1000, found), follow(app, from, last.promise, 7)]
  const servers = await Servers.start(place)
  const followers = Array.from({ length: FOLLOWERS }, (_, at) => new Follower(servers.ports, at))
  const begun = performance.now()
  await Promise.race([
    servers.failed,
    ...followers.map(({ failed }) => failed),
    Promise.all([
      spread(size.cuts, size, found, () => cut(followers)),
      spread(size.kills, size, found, () => servers.kill()),
      spread(1, { writes: 2 * size.writes }, found, async () => {}),
    ]),
  ])
  await servers.written()
  const seconds = (performance.now() - begun) / 1000
  last.resolve(await writeLast(app))
  const [first = [], second = []] = await Promise.all(readers)
  const isSame = first.every(({ id }, at) => id === second[at]?.id)
  const wrong = await listsThatAreWrong(app, followers)
  const faults = [
    ...(isSame && first.length === second.length ? [] : ['two readers got something else']),
    ...(await faultsOf(app, first)),
  ]
  await Promise.all(followers.map((one) => one.end()))
  await servers.stop()
  await app.close()
  const outOfOrder = followers.reduce((sum, one) => sum + one.outOfOrder, 0)
  return {
    writes: first.length,
    cuts: size.cuts,
    kills: servers.kills,
    faults,
    outOfOrder,
    wrong,
    seconds,
  }
}

/** Does something so often, spread over the writes. */
async function spread(
  times: number,
  { writes }: Pick<Size, 'writes'>,
  found: readonly LoggedChange[],
  work: () => Promise<void>,
): Promise<void> {
  for (let done = 0; done < times; done += 1) {
    while (found.length < (writes * (done + 1)) / (times + 1)) await delay(20)
    await work()
  }
}

/** Cuts one connection, as soon as there is one. */
async function cut(followers: readonly Follower[]): Promise<void> {
  for (;;) {
    const open = followers.filter(({ isOpen }) => isOpen)
    const chosen = open[Math.floor(Math.random() * open.length)]
    if (chosen) return chosen.cut()
    await delay(10)
  }
}

async function listsThatAreWrong(
  app: Awaited<ReturnType<typeof appAt>>,
  followers: readonly Follower[],
): Promise<string[]> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const states = await Promise.all(followers.map((one) => one.hasItsList(app)))
    const wrong = followers.filter((_, at) => !states[at])
    if (wrong.length === 0 || performance.now() > end) {
      return wrong.map(({ path, failures }) => `${path} ${JSON.stringify(failures.at(-1))}`)
    }
    await delay(200)
  }
}
