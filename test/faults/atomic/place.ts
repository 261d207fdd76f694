/**
 * Where processes find their records, and what they do there: bookings that overlap, and steps that write several records.
 *
 * @module
 */

import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { libsqlStore } from '../../../adapters/stores/sqlite/calls/libsql.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { type App, defineModel, HttpError, type Store } from '../../../src/index.ts'
import { runSteps, type Step, slotsOn } from '../../atomic/slots.ts'

/** A SQLite file, a libSQL server, a schema of PostgreSQL, or a database of MongoDB. */
export type Where =
  | { readonly path: string }
  | { readonly libsql: string }
  | { readonly url: string; readonly schema: string }
  | { readonly url: string; readonly database: string }

/** The store at a place. */
export function storeAt(where: Where): Store {
  if ('path' in where) return sqliteStore(where)
  if ('libsql' in where) return libsqlStore({ url: where.libsql, authToken: 'a token' })
  return 'schema' in where ? postgresStore(where) : mongoStore(where)
}

export const Booking = defineModel('RaceBooking', {
  fields: { room: z.string().max(9), from: z.number(), to: z.number() },
  exclude: [{ equal: ['room'], range: ['from', 'to'] }],
})

/** Accounts between which steps move one, and a record of each move. */
export const Purse = defineModel('KillPurse', {
  fields: { name: z.string().max(20), coins: z.number(), last: z.string() },
  unique: ['name'],
})
export const Move = defineModel('KillMove', {
  fields: { name: z.string().max(50) },
  unique: ['name'],
})

/** What a process is told to do, and what it answers. */
export type Task =
  | { readonly steps: number; readonly tag: string }
  | { readonly bookings: number; readonly room: string }
  | { readonly moves: readonly string[] }

/** An app over all of them. */
export function appAt(where: Where): App {
  return appOn(storeAt(where))
}

/** The same over a store. */
export function appOn(store: Store): App {
  const app = slotsOn(store)
  for (const model of [Booking, Purse, Move]) app.store.collection(model as never)
  return app
}

/** Books a room for overlapping times, all at once; resolves to how often each status came. */
export async function bookAll(
  app: App,
  room: string,
  count: number,
): Promise<Record<number, number>> {
  const told: Record<number, number> = {}
  await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const booking = { room, from: at % 10, to: 10 + (at % 7) }
      const status = await app.store
        .collection(Booking)
        .insert(booking)
        .then(() => 201, statusOf)
      told[status] = (told[status] ?? 0) + 1
    }),
  )
  return told
}

function statusOf(error: unknown): number {
  if (error instanceof HttpError) return error.status
  throw error
}

/** Moves coins between these purses for ever; `tell` hears of each move that is stored. */
export async function moveForEver(
  app: App,
  names: readonly string[],
  tell: (move: string) => void,
): Promise<never> {
  for (let at = 0; ; at += 1) {
    const name = `${names[0]} ${process.pid} ${at}`
    const moved = await app.store
      .atomic(async (tx) => {
        const purses = tx.collection(Purse)
        for (const [index, one] of names.entries()) {
          const purse = await purses.findOne({ name: one })
          if (!purse) throw new Error(`no purse ${one}`)
          const coins = purse.coins + (index === 0 ? names.length - 1 : -1)
          await purses.update(purse._id, { coins, last: name })
        }
        await tx.collection(Move).insert({ name })
      })
      .then(
        () => true,
        (error) => statusOf(error) < 400,
      )
    if (moved) tell(name)
  }
}

/** Does a task that ends. */
export async function doTask(
  app: App,
  task: Task,
): Promise<readonly Step[] | Record<number, number>> {
  if ('steps' in task) return runSteps(app, task.tag, task.steps)
  if ('bookings' in task) return bookAll(app, task.room, task.bookings)
  return moveForEver(app, task.moves, (move) => void process.send?.({ move }))
}
