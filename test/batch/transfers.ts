/**
 * Accounts with money, batches that move it, writes of one account, and readers that count it.
 *
 * @module
 */

import * as z from 'zod'
import { Random } from '../../extras/contract/store/random.ts'
import { batch } from '../../src/batch/index.ts'
import {
  type App,
  createApp,
  createRouter,
  defineModel,
  type Fields,
  type Store,
} from '../../src/index.ts'
import { type Answer, answerOf, type Message, recordedLog, request } from '../records/service.ts'

const Account = defineModel('BatchAccount', {
  fields: { name: z.string(), money: z.number().int().min(0), seen: z.number().int().optional() },
})
const Booking = defineModel('BatchBooking', {
  fields: { from: z.string(), to: z.string(), amount: z.number().int().min(1) },
})

/** What came of it. */
export interface TransferToll {
  /** Batches that were taken, that were out of date, and that met others too often. */
  taken: number
  stale: number
  overtaken: number
  reads: number
  /** Writes of single accounts. */
  singles: number
  readonly broken: string[]
}

const ACCOUNTS = 4
const EACH = 1000

/** `writers` that each move money `moves` times, through apps on `stores` over the same records. */
export async function transfers(
  stores: readonly Store[],
  { writers, moves }: { readonly writers: number; readonly moves: number },
): Promise<TransferToll> {
  const apps = stores.map(bankOn)
  const [first] = apps
  if (!first) throw new Error('no store')
  const toll: TransferToll = {
    ...{ taken: 0, stale: 0, overtaken: 0, reads: 0, singles: 0 },
    broken: [],
  }
  try {
    await Promise.all(apps.map((app) => app.ready()))
    const accounts = first.store.collection(Account)
    for (let at = 0; at < ACCOUNTS; at += 1) await accounts.insert({ name: `a${at}`, money: EACH })
    let isOver = false
    const others = [reading(first, toll, () => isOver), writing(first, toll, () => isOver)]
    await Promise.all(
      Array.from({ length: writers }, (_, at) =>
        moving(apps[at % apps.length] ?? first, new Random(at), moves, toll),
      ),
    ).finally(() => {
      isOver = true
    })
    await Promise.all(others)
    await balance(first, toll)
  } finally {
    await Promise.all(apps.map((app) => app.close()))
  }
  return toll
}

function bankOn(store: Store): App {
  const app = createApp({ store, logger: recordedLog(), env: {} })
  return app
    .mount('/accounts', createRouter({ model: Account, allowedFields: ['money', 'seen'] }))
    .mount('/bookings', createRouter({ model: Booking, allowedFields: ['from', 'to', 'amount'] }))
    .mount('/batch', batch())
}

async function send(app: App, method: string, path: string, message?: Message): Promise<Answer> {
  return answerOf(await app.handle(request(method, path, message)))
}

/** Moves money between accounts as they were read. */
async function moving(app: App, random: Random, moves: number, toll: TransferToll): Promise<void> {
  for (let done = 0; done < moves; ) {
    const [from, to] = await two(app, random)
    const amount = 1 + random.below(5)
    const answer = await send(app, 'POST', '/batch', {
      json: {
        operations: [
          moved(from, -amount),
          { method: 'POST', path: '/bookings', body: { from: from.id, to: to.id, amount } },
          moved(to, amount),
        ],
      },
    })
    if (answer.status === 200) {
      toll.taken += 1
      done += 1
    } else if (answer.status === 412) {
      toll.stale += 1
    } else if (answer.status === 409) {
      toll.overtaken += 1
    } else {
      toll.broken.push(answer.text)
      done += 1
    }
  }
}

interface Read {
  readonly id: string
  readonly money: number
  readonly etag: string
}

function moved({ id, money, etag }: Read, by: number): object {
  return { method: 'PATCH', path: `/accounts/${id}`, body: { money: money + by }, ifMatch: etag }
}

async function two(app: App, random: Random): Promise<[Read, Read]> {
  const ids = (await send(app, 'GET', '/accounts')).records.map(({ _id }) => String(_id))
  const at = random.below(ids.length)
  const other = (at + 1 + random.below(ids.length - 1)) % ids.length
  const read = async (id = ''): Promise<Read> => {
    const { record, headers } = await send(app, 'GET', `/accounts/${id}`)
    return { id, money: Number(record.money), etag: headers.get('etag') ?? '' }
  }
  return [await read(ids[at]), await read(ids[other])]
}

/** Nobody ever sees money that is on its way. */
async function reading(app: App, toll: TransferToll, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const { records } = await send(app, 'GET', '/accounts?pageSize=100')
    const total = sum(records)
    if (total !== ACCOUNTS * EACH) toll.broken.push(`a reader sees ${total}`)
    toll.reads += 1
    await new Promise((resolve) => setTimeout(resolve))
  }
}

/** Changes another field of accounts, alone. */
async function writing(app: App, toll: TransferToll, isOver: () => boolean): Promise<void> {
  const { records } = await send(app, 'GET', '/accounts')
  for (let at = 0; !isOver(); at += 1) {
    const { _id } = records[at % records.length] ?? {}
    const { status } = await send(app, 'PATCH', `/accounts/${_id}`, { json: { seen: at } })
    if (status !== 200) toll.broken.push(`a single write: ${status}`)
    toll.singles += 1
    // Each of them makes batches stale, so at least one is taken before the next.
    const { taken } = toll
    while (taken === toll.taken && !isOver()) await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

/** Each account has what the bookings say. */
async function balance(app: App, toll: TransferToll): Promise<void> {
  const bookings = await app.store.collection(Booking).find()
  if (bookings.length !== toll.taken) {
    toll.broken.push(`${bookings.length} bookings of ${toll.taken} batches`)
  }
  for (const { _id, name, money } of await app.store.collection(Account).find()) {
    const booked = bookings.reduce(
      (total, { from, to, amount }) =>
        total + (to === _id ? amount : 0) - (from === _id ? amount : 0),
      EACH,
    )
    if (money !== booked) toll.broken.push(`${name} has ${money}, its bookings say ${booked}`)
  }
}

function sum(records: readonly Fields[]): number {
  return records.reduce((total, { money }) => total + Number(money), 0)
}
