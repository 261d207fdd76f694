/**
 * Bookings and atomic steps behind HTTP, for stores that only a Worker can open.
 *
 * @module
 */

import * as z from 'zod/mini'
import {
  type App,
  createApp,
  createRouter,
  defineModel,
  ref,
  type Store,
} from '../../../src/index.ts'
import { faultsOf, fill, runSteps, Slot, type Step } from '../../atomic/slots.ts'

const Booking = defineModel('WorkerBooking', {
  fields: { room: z.string(), from: z.number(), to: z.number() },
  exclude: [{ equal: ['room'], range: ['from', 'to'] }],
})

/** A key to a booked room. */
const Key = defineModel('WorkerKey', {
  fields: { label: z.string(), booking: ref('WorkerBooking') },
})

const silent = { debug() {}, info() {}, warn() {}, error: console.error }

/** An app over `store` with rooms to book, and with steps that it runs and judges. */
export function racesOn(store: Store): App {
  const options = { maxInFlight: 2000, requestTimeoutMs: 0, maxBodyValues: 100_000 }
  const app = createApp({ store, logger: silent, ...options })
  app.store.collection(Slot)
  app.store.collection(Key)
  return app
    .mount('/bookings', createRouter({ model: Booking, middlewares: [], maxLimit: 1000 }))
    .post('/fill', async () => fill(app))
    .post('/steps', ({ body }) => runSteps(app, body.tag, body.count), {
      body: z.object({ tag: z.string(), count: z.number() }),
    })
    .post('/faults', ({ body }) => faultsOf(app, body.steps as readonly Step[]), {
      body: z.object({ steps: z.array(z.any()) }),
    })
    .post('/keys', async (_, { store }) => {
      const bookings = store.collection(Booking)
      const [one] = await bookings.find({ or: [{ from: 0 }, { from: { gt: 0 } }] }, { s: 'ROOM' })
      const keys = store.collection(Key)
      await keys.insert({ label: 'Brass', booking: one?._id ?? '' })
      const [key] = await keys.find({}, { s: 'brass', expand: ['booking'] })
      const groups = await bookings.aggregate({ count: true, by: ['room'] })
      return { room: key?.booking?.room, count: await keys.count({}, { s: 'ass' }), groups }
    })
}
