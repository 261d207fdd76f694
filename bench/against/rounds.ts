/**
 * Rounds that measure two commits in turns.
 *
 * @module
 */

import { COLD_START, firstAnswer } from '../cold-start.ts'
import { throwOut } from '../measure.ts'
import type { Sample } from '../sample.ts'
import { warmServer } from '../warm.ts'
import { works } from '../works.ts'
import type { Side } from './sides.ts'

/** Starts of a process in one sample: the clock of its processor time has ticks of 10 ms. */
const STARTS = 5
/** Attempts of a round in which a request fails. */
const ATTEMPTS = 3

/** What is compared. */
export type Figures = Pick<Sample, 'cpuMicroseconds' | 'requestsPerSecond'>

/** Both sides in one round, each the mean of two samples. */
export interface Round {
  readonly ours: Figures
  readonly theirs: Figures
}

/** The row that is measured. */
export interface ComparedRow {
  readonly name: string
  readonly connections: number
  readonly seconds: number
}

/** A row that cannot be measured because one side fails. */
export class Failure extends Error {
  readonly side: Side

  constructor(side: Side, cause: unknown) {
    super(`${side.server.name}: ${(cause as Error).message}`, { cause })
    this.side = side
  }
}

/** A side's process in one round. */
interface Running {
  readonly samples: Figures[]
  sample(): Promise<Figures>
  stop(): Promise<void>
}

/** One round, repeated if a request fails in it. */
export async function measureBoth(
  ours: Side,
  theirs: Side,
  row: ComparedRow,
  round: number,
): Promise<Round> {
  for (let attempt = 1; attempt < ATTEMPTS; attempt += 1) {
    try {
      return await oneRound(ours, theirs, row, round)
    } catch (error) {
      throwOut(error)
    }
  }
  return oneRound(ours, theirs, row, round)
}

/** Fresh processes, asked in turns: ours, theirs, theirs, ours, and the other way about in every second round. */
async function oneRound(ours: Side, theirs: Side, row: ComparedRow, round: number): Promise<Round> {
  const turns = round % 2 === 0 ? [ours, theirs] : [theirs, ours]
  const running = new Map<Side, Running>()
  try {
    for (const side of turns) running.set(side, await toldOf(side, started(side, row)))
    for (const side of [...turns, ...turns.toReversed()]) {
      const { sample, samples } = running.get(side) as Running
      samples.push(await toldOf(side, sample()))
    }
    return {
      ours: meanOf(running.get(ours)?.samples),
      theirs: meanOf(running.get(theirs)?.samples),
    }
  } finally {
    for (const one of running.values()) await one.stop()
  }
}

/** What `work` gives; its failure is that of `side`. */
async function toldOf<T>(side: Side, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new Failure(side, error)
  }
}

async function started(side: Side, { name, connections, seconds }: ComparedRow): Promise<Running> {
  const { server, database } = side
  if (name === COLD_START) {
    return { samples: [], sample: () => coldStarts(side), stop: async () => undefined }
  }
  const work = works(database).find((each) => each.name === name)
  if (!work) throw new Error(`no work is named ${name}`)
  const { sample, stop } = await warmServer(server, work, database, seconds)
  return { samples: [], sample: () => sample(connections), stop }
}

async function coldStarts({ server, database }: Side): Promise<Figures> {
  const starts: Figures[] = []
  for (let left = STARTS; left > 0; left -= 1) {
    const { milliseconds, cpuSeconds } = await firstAnswer(server, database)
    starts.push({ cpuMicroseconds: cpuSeconds * 1e6, requestsPerSecond: 1000 / milliseconds })
  }
  return meanOf(starts)
}

function meanOf(figures: readonly Figures[] = []): Figures {
  const mean = (pick: (one: Figures) => number) =>
    figures.reduce((sum, one) => sum + pick(one), 0) / figures.length
  return {
    cpuMicroseconds: mean((one) => one.cpuMicroseconds),
    requestsPerSecond: mean((one) => one.requestsPerSecond),
  }
}
