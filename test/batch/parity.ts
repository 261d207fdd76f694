/**
 * Random batches, and the same operations sent one by one to a copy of the records: both must come to the same.
 *
 * @module
 */

import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { Random } from '../../extras/contract/store/random.ts'
import type { Fields } from '../../src/index.ts'
import type { Answer } from '../records/service.ts'
import { OWNER, PLACES, type Place, type World, worldOn } from './world.ts'

/** What the batches have come to. */
export interface Parity {
  readonly batches: number
  taken: number
  /** Refused batches by status. */
  readonly refused: Record<number, number>
  /** Operations of batches that were taken. */
  operations: number
  /** How the two differed. */
  readonly differences: string[]
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly body?: Fields
}

type Created = Readonly<Record<Place, readonly number[]>>
type Records = Readonly<Record<Place, readonly Fields[]>>

const NOBODY = 'f'.repeat(24)

/** Sends as many random batches as `batches` says to `world`, which begins without records. */
export async function parity(world: World, seed: number, batches: number): Promise<Parity> {
  const random = new Random(seed)
  const toll: Parity = { batches, taken: 0, refused: {}, operations: 0, differences: [] }
  for (let round = 0; round < batches; round += 1) {
    const before = await world.all()
    const operations = randomOperations(random, before)
    const alone = await oneByOne(before, operations)
    const together = await world.batch(operations)
    const after = await world.all()
    const told = (difference: string) =>
      toll.differences.push(`${seed}/${round} ${difference}\n${JSON.stringify(operations)}`)
    if (together.status === 200) {
      toll.taken += 1
      toll.operations += operations.length
    } else {
      toll.refused[together.status] = (toll.refused[together.status] ?? 0) + 1
    }
    const [left, right] = [shownBatch(together), alone.shown]
    if (left !== right) told(`answers:\n${left}\n${right}`)
    const expected = together.status === 200 ? alone.after : before
    const names = namesOf(alone.ids, together)
    if (sorted(after, names) !== sorted(expected, names)) {
      told(`records:\n${sorted(after, names)}\n${sorted(expected, names)}`)
    }
  }
  return toll
}

/** One to eight operations on records that there are, that earlier operations create, and rarely on none. */
function randomOperations(random: Random, records: Records): readonly Operation[] {
  const created: Record<Place, number[]> = { teams: [], players: [], notes: [], trips: [] }
  const choose = new Choice(random, records, created)
  return Array.from({ length: 1 + random.below(8) }, (_, at) => {
    const place = choose.place()
    const kind = random.below(100)
    const id = choose.id(place, (one) => `$${one}`)
    if (kind < 45 || id === undefined) {
      const body = randomBody(random, choose, place)
      created[place].push(at)
      return { method: 'POST', path: `/${place}`, body }
    }
    const path = `/${place}/${id}`
    if (kind < 60) return { method: 'DELETE', path }
    const [first, ...rest] = Object.entries(randomBody(random, choose, place))
    const body = Object.fromEntries([first ?? [], ...rest.filter(() => random.chance(60))])
    return { method: 'PATCH', path, body }
  })
}

/** Chooses among what there is. */
class Choice {
  readonly #random: Random
  readonly #records: Records
  readonly #created: Created

  constructor(random: Random, records: Records, created: Created) {
    this.#random = random
    this.#records = records
    this.#created = created
  }

  /** A mount that something can be sent to. */
  place(): Place {
    const place = this.#random.of(PLACES as readonly [Place, ...Place[]])
    return place === 'notes' && !this.#has('players') ? 'players' : place
  }

  /** The id of a record, or what stands for it; rarely one that there is not. Undefined if there are no records. */
  id<T>(place: Place, named: (operation: number) => T): T | string | undefined {
    const random = this.#random
    if (!this.#has(place)) return undefined
    if (random.chance(1)) return NOBODY
    const records = this.#records[place]
    const created = this.#created[place]
    const choice = random.below(records.length + 2 * created.length)
    const record = records[choice]
    return record ? String(record._id) : named(created[choice % created.length] ?? 0)
  }

  #has(place: Place): boolean {
    return this.#records[place].length + this.#created[place].length > 0
  }
}

function randomBody(random: Random, choose: Choice, place: Place): Fields {
  const id = (target: Place) => choose.id(target, (one) => ({ $id: one }))
  const name = random.chance(1) ? 'too long' : `n${random.below(60)}`
  switch (place) {
    case 'teams':
      return { name, ...(random.chance(50) && { city: name }) }
    case 'players':
      return {
        name,
        ...(random.chance(40) && { least: random.below(10) }),
        ...(random.chance(40) && { most: 5 + random.below(20) }),
        ...(random.chance(60) && { team: id('teams') ?? null }),
        ...(random.chance(60) && { shirt: random.of([null, random.below(30)]) }),
      }
    case 'notes':
      return { text: name, player: id('players') ?? NOBODY, owner: 'ignored' }
    case 'trips':
      return { name, players: random.list(3, () => id('players') ?? NOBODY) }
  }
}

interface Alone {
  /** The answers, as `shownBatch` shows them. */
  readonly shown: string
  readonly after: Records
  /** The ids of what was created, by operation. */
  readonly ids: readonly (string | undefined)[]
}

/** The operations one by one, over a copy, until one is refused. */
async function oneByOne(records: Records, operations: readonly Operation[]): Promise<Alone> {
  const copy = worldOn(sqliteStore())
  await copy.fill(records)
  const ids: (string | undefined)[] = []
  const shown: string[] = []
  let refused: string | undefined
  for (const [at, { method, path, body }] of operations.entries()) {
    const named = (_: string, operation: string) => ids[Number(operation)] ?? ''
    const json =
      body &&
      JSON.parse(
        JSON.stringify(body).replace(/\{"\$id":(\d+)\}/g, (all, n) => `"${named(all, n)}"`),
      )
    const answer = await copy.send(method, path.replace(/\$(\d+)/, named), {
      ...(json && { json }),
      headers: OWNER,
    })
    if (answer.status >= 400) {
      refused = shownRefusal(answer, at, ids)
      break
    }
    ids.push(method === 'POST' ? String(answer.record._id) : undefined)
    shown.push(canonical({ status: answer.status, body: answer.body }))
  }
  const after = await copy.all()
  await copy.app.close()
  return { shown: refused ?? anonymous(`[${shown}]`, ids), after, ids }
}

function shownBatch(answer: Answer): string {
  const data = answer.body.data as readonly { readonly body: { readonly data?: Fields } }[]
  const operation = (answer.body as { operation?: number }).operation
  if (answer.status !== 200) return shownRefusal(answer, operation, [])
  return anonymous(canonical(data), idsOf(answer))
}

function shownRefusal(
  { status, body }: Answer,
  operation: number | undefined,
  ids: readonly (string | undefined)[],
): string {
  return anonymous(canonical([operation, status, body.error, body.fields]), ids)
}

/** The ids of all that a batch has created, by operation. */
function idsOf({ status, body }: Answer): (string | undefined)[] {
  if (status !== 200) return []
  const data = body.data as readonly { status: number; body: { data?: Fields } }[]
  return data.map((one) => (one.status === 201 ? String(one.body.data?._id) : undefined))
}

function anonymous(text: string, ids: readonly (string | undefined)[]): string {
  return ids.reduce<string>(
    (shown, id, at) => (id === undefined ? shown : shown.replaceAll(id, `$${at}`)),
    text,
  )
}

type Names = ReadonlyMap<string, string>

function namesOf(ids: readonly (string | undefined)[], together: Answer): Names {
  const names = new Map<string, string>()
  for (const list of [ids, idsOf(together)]) {
    for (const [at, id] of list.entries()) if (id !== undefined) names.set(id, `$${at}`)
  }
  return names
}

/** The records in an order that does not depend on the store, nor on the ids of new ones. */
function sorted(records: Records, names: Names): string {
  const lines = PLACES.flatMap((place) =>
    records[place].map((record) =>
      [...names].reduce(
        (shown, [id, name]) => shown.replaceAll(id, name),
        canonical([place, record]),
      ),
    ),
  )
  return lines.sort().join('\n')
}

/** JSON with the members of objects in one order: each store has its own. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
