/**
 * The older package as npm has it, and fieldgate, asked the same.
 *
 * @module
 */

import { isDeepStrictEqual } from 'node:util'
import { MongoClient } from 'mongodb'
import { answer, type Compared, compare } from './compare.ts'
import { seed, stored } from './data.ts'
import { explained } from './explained.ts'
import { startHere } from './here.ts'
import { random, written } from './pairs.ts'
import { ON_NPM, type Row, readRows, rowWith } from './rows.ts'
import { startThere } from './there.ts'

/** What was seen. */
export interface Report {
  readonly pairs: number
  /** Pairs that differ in headers and in what is around the records alone. */
  readonly alike: number
  /** How often each row of the table showed. */
  readonly shown: ReadonlyMap<Row, number>
  /** Differences without a row, and rows without a difference: none, if the page is right. */
  readonly wrong: readonly string[]
}

/** Asks both all hand-written requests and `count` random ones of `seed`, over one database of the MongoDB at `url`. */
export async function differ(url: string, count: number, start: number): Promise<Report> {
  const database = `differences-${crypto.randomUUID()}`
  const client = new MongoClient(url)
  const db = client.db(database)
  const { log } = console
  // The older package prints every error of the database.
  console.log = () => {}
  const there = await startThere(url, database)
  const here = await startHere(url, database)
  try {
    await seed(db)
    const before = await stored(db)
    const seen = new Seen()
    for (const pair of [...written(), ...random(count, start)]) {
      const compared = compare(
        pair,
        await answer(there.url, pair, db, before),
        await answer(here.url, pair, db, before),
      )
      seen.add(compared, before)
    }
    return seen.report()
  } finally {
    console.log = log
    await here.stop()
    await there.stop()
    await db.dropDatabase()
    await client.close()
  }
}

/** Counts what pairs show. */
class Seen {
  readonly #rows = readRows().filter(({ section }) => section === ON_NPM)
  readonly #shown = new Map(this.#rows.map((row) => [row, 0]))
  readonly #wrong: string[] = []
  #pairs = 0
  #alike = 0

  add(compared: Compared, before: unknown): void {
    const { pair, here, differences } = compared
    const asked = `${pair.method} ${pair.path} ${pair.body?.slice(0, 100) ?? ''}`
    this.#pairs += 1
    if (differences.every(({ facet }) => facet === 'envelope' || facet.startsWith('header ')))
      this.#alike += 1
    if (here.status >= 400 && here.stored !== undefined && !isDeepStrictEqual(here.stored, before))
      this.#wrong.push(`refused, and something was written: ${asked}`)
    for (const difference of differences) {
      const rows = explained(difference, compared)
      for (const words of rows) this.#count(rowWith(words, this.#rows))
      if (rows.length > 0) continue
      const [old, now] = [difference.there, difference.here].map((value) => JSON.stringify(value))
      this.#wrong.push(
        `no row for ${difference.facet} of ${asked}:\n  there ${old}\n  here  ${now}`,
      )
    }
  }

  #count(row: Row): void {
    this.#shown.set(row, (this.#shown.get(row) ?? 0) + 1)
  }

  report(): Report {
    const unseen = [...this.#shown].filter(([, count]) => count === 0)
    const wrong = [
      ...this.#wrong,
      ...unseen.map(([{ there }]) => `no pair shows the row "${there}"`),
    ]
    return { pairs: this.#pairs, alike: this.#alike, shown: this.#shown, wrong }
  }
}
