/**
 * What an app does beside its requests: consumers, webhooks, jobs and a backfill, each step's calls failed.
 *
 * @module
 */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { consume, runDue } from '../../../src/background/changes/index.ts'
import { jobs } from '../../../src/background/jobs/index.ts'
import { webhooks } from '../../../src/background/webhooks/index.ts'
import { createRouter, defineModel, type Fields } from '../../../src/index.ts'
import type { Answer, Place, Served } from './place.ts'
import type { Scenario, Step } from './run.ts'

const Task = defineModel('StepTodo', {
  fields: { title: z.string(), count: z.number().optional() },
  changes: true,
})

/** What happened, in order, over all processes. */
function seenAt(place: Place): string[] {
  const known = place.kept.get('seen') as string[] | undefined
  const seen = known ?? []
  place.kept.set('seen', seen)
  return seen
}

const places = new Map<string, Place>()
let server: Server | undefined

/** The address of an endpoint that notes what comes for the place. */
function urlOf(place: Place): string {
  const known = place.kept.get('url')
  if (typeof known === 'string') return known
  server ??= createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { type, data } = JSON.parse(text)
    const at = places.get(String(request.url))
    if (at) seenAt(at).push(`${type} ${data.title} ${data.count ?? 0}`)
    response.writeHead(204).end()
  })
    .listen(0)
    .unref()
  const path = `/${crypto.randomUUID()}`
  places.set(path, place)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  place.kept.set('url', url)
  return url
}

type Work = 'consumer' | 'failing consumer' | 'job' | 'webhooks'

function served(work: Work): Served {
  return {
    mount(app, faults, place) {
      const seen = seenAt(place)
      const say = (text: string) => {
        if (!faults.isGone) seen.push(text)
      }
      app.mount(
        '/todos',
        createRouter({ model: Task, allowedFields: ['title', 'count'], middlewares: [] }),
      )
      if (work === 'consumer' || work === 'failing consumer') {
        consume(app, 'mailer', {
          models: [Task],
          concurrency: 2,
          handle({ after, kind }, { attempt }) {
            if (work === 'failing consumer' && after?.title === 'b' && attempt < 3) {
              throw new Error('not yet')
            }
            say(`${kind} ${after?.title} ${after?.count ?? 0}`)
          },
        })
      }
      if (work === 'job') {
        jobs(app, {
          nightly: { schedule: '0 3 * * *', run: ({ at }) => say(`ran ${at.toISOString()}`) },
        })
      }
      if (work === 'webhooks') {
        const url = urlOf(place)
        webhooks(app, {
          allowPrivate: true,
          endpoints: [{ url, secret: `whsec_${btoa('x'.repeat(32))}` }],
        })
      }
    },
  }
}

/** Does what is due now; 0 if the process is gone on the way, 503 if it is not done. */
async function due(place: Place): Promise<Answer> {
  const { faults, app } = place
  const done = runDue(app).then(
    () => 200,
    () => 503,
  )
  // Those that are held are let go of.
  const releasing = setInterval(() => faults.release(), 5)
  const status = await Promise.race([done, faults.gone.then(() => 0)])
  clearInterval(releasing)
  return { status, body: {}, text: '', headers: new Headers() }
}

/** Does what is due until all of it must be done: another process may have had it, and what failed has pauses. */
async function settle(place: Place): Promise<void> {
  for (let times = 0; times < 6; times += 1) {
    place.later(30)
    await due(place)
  }
}

/** How long others may hold changes back, in milliseconds. */
const PATIENCE_MS = 20_000

/** What is wrong once all is done. On PostgreSQL, changes wait for transactions that others have open on the server. */
async function settled(place: Place, kinds?: string[]): Promise<string[]> {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    await settle(place)
    const wrong = wrongOf(seenAt(place), kinds)
    if (wrong.length === 0 || performance.now() > until) return wrong
    await pause(250)
  }
}

function scenario(
  name: string,
  work: Work,
  prepare: (place: Place) => Promise<Omit<Step, 'send'>>,
): Scenario {
  return {
    name,
    served: served(work),
    // No request's time ends the others; and while the store is down, a step waits until its lease is over.
    kinds: ['refused', 'lost', 'late', 'slow', 'gone'],
    leftOut: ['fieldgate_background', 'fieldgate_held_changes'],
    async prepare(place) {
      const step = await prepare(place)
      return { send: () => due(place), lax: true, ...step }
    },
  }
}

async function write(place: Place): Promise<void> {
  const made: Fields[] = []
  for (const title of ['a', 'b', 'c']) made.push((await place.post('/todos', { title })).body.data)
  for (const { _id } of made) await place.ask('PATCH', `/todos/${_id}`, { count: 1 })
}

/** Each is there at least once, and in order for each record. */
function wrongOf(seen: readonly string[], kinds = ['created', 'updated']): string[] {
  const wrong: string[] = []
  for (const title of ['a', 'b', 'c']) {
    const [first, second] = [`${kinds[0]} ${title} 0`, `${kinds[1]} ${title} 1`]
    const [at, then] = [seen.indexOf(first), seen.indexOf(second)]
    if (at < 0 || then < at)
      wrong.push(`of ${title} there is ${seen.filter((one) => one.includes(` ${title} `))}`)
    if (seen.lastIndexOf(first) > seen.lastIndexOf(second))
      wrong.push(`${title} ends with its beginning`)
  }
  if (seen.length > 12) wrong.push(`each came ${seen.length / 6} times`)
  return wrong
}

export const backgroundScenarios: readonly Scenario[] = [
  scenario('consumer', 'consumer', async (place) => {
    await write(place)
    return {
      check: () => settled(place),
    }
  }),
  scenario('consumer that fails', 'failing consumer', async (place) => {
    await write(place)
    return {
      check: () => settled(place),
    }
  }),
  scenario('consumer that tries again', 'failing consumer', async (place) => {
    await write(place)
    await due(place)
    place.later(5)
    return {
      check: () => settled(place),
    }
  }),
  scenario('job', 'job', async (place) => {
    place.later(5 * 3600)
    return {
      async check() {
        await settle(place)
        const seen = seenAt(place)
        place.later(86_400)
        await settle(place)
        const [first, ...more] = [...new Set(seen)]
        return [
          ...(first === 'ran 2030-01-01T03:00:00.000Z' ? [] : [`first it ${first}`]),
          ...(more.join() === 'ran 2030-01-02T03:00:00.000Z' ? [] : [`then it ${more}`]),
          ...(seen.length > 3 ? [`it ${seen.join()}`] : []),
        ]
      },
    }
  }),
  {
    ...scenario('webhooks', 'webhooks', async (place) => {
      await write(place)
      return {
        check: () => settled(place, ['stepTodo.created', 'stepTodo.updated']),
      }
    }),
  },
]
