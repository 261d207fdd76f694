import { describe, expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import {
  type ChangeOf,
  type ChangeTry,
  type ConsumeOptions,
  consume,
  runBackground,
  runDue,
} from '../../src/background/changes/index.ts'
import { metrics } from '../../src/health/index.ts'
import { type App, createRouter, defineModel, type RecordOf } from '../../src/index.ts'
import { apps } from './apps.ts'

const Task = defineModel('Task', {
  fields: { title: z.string(), due: z.date().optional(), secret: z.string().optional() },
  hidden: ['secret'],
  changes: true,
})
const Note = defineModel('Note', { fields: { text: z.string() }, changes: true })
const Plain = defineModel('Plain', { fields: { text: z.string() } })
type TaskChange = ChangeOf<typeof Task>

/** What a consumer was called with, as `kind title attempt`. */
function noted(work: (change: TaskChange, given: ChangeTry) => unknown = () => {}) {
  const calls: string[] = []
  const handle = async (change: TaskChange, given: ChangeTry) => {
    const { title } = change.after ?? change.before ?? { title: '' }
    calls.push(`${change.kind} ${title} ${given.attempt}`)
    await work(change, given)
  }
  return { calls, handle }
}

/** An app with a consumer of tasks. */
async function consuming(
  app: App,
  handle: ConsumeOptions<readonly [typeof Task]>['handle'],
  options: Partial<ConsumeOptions<readonly [typeof Task]>> = {},
): Promise<App> {
  app.mount(
    '/tasks',
    createRouter({ model: Task, allowedFields: ['title', 'due'], middlewares: [] }),
  )
  consume(app, 'mailer', { models: [Task], handle, ...options })
  await app.ready()
  return app
}

const tasks = (app: App) => app.store.collection(Task)

describe('a consumer', () => {
  it('gets each change of its models in order, from routes and from code, with hidden fields', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const seen: TaskChange[] = []
    const app = await consuming(it.app(), (change) => void seen.push(change))
    const post = await app.handle(
      new Request('http://localhost/tasks', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ title: 'a', due: '2026-12-01T00:00:00Z' }),
      }),
    )
    const { _id } = ((await post.json()) as { data: RecordOf<typeof Task> }).data
    await tasks(app).update(_id, { secret: 'x' })
    await app.store.atomic(async (tx) => {
      await tx.collection(Task).update(_id, { title: 'b' })
      await tx.collection(Task).insert({ title: 'c' })
    })
    await tasks(app).delete(_id)
    await runDue(app)
    const due = new Date('2026-12-01T00:00:00Z')
    expect(seen.map(({ kind, after }) => [kind, after?.title])).toEqual([
      ['created', 'a'],
      ['updated', 'a'],
      ['updated', 'b'],
      ['created', 'c'],
      ['removed', undefined],
    ])
    expect(seen[0]).toMatchObject({ model: 'Task', before: null, after: { _id, due }, by: null })
    expect(seen[0]?.id).toBe(post.headers.get('change-id'))
    expect(seen[1]?.after?.secret).toBe('x')
    expect(seen[4]).toMatchObject({ before: { _id, title: 'b', due, secret: 'x' }, after: null })
    await runDue(app)
    expect(seen).toHaveLength(5)
  })

  it('works in one of several processes, and gets nothing twice', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const { calls, handle } = noted()
    const all = await Promise.all([1, 2, 3].map(() => consuming(it.app({ now: Date.now }), handle)))
    const running = await Promise.all(all.map((app) => runBackground(app)))
    const titles = Array.from({ length: 60 }, (_, at) => `${at}`)
    for (const [at, title] of titles.entries()) await tasks(all[at % 3] as App).insert({ title })
    await expect.poll(() => calls.length).toBeGreaterThanOrEqual(60)
    expect(calls).toEqual(titles.map((title) => `created ${title} 1`))
    await Promise.all(running.map((one) => one.close()))
    expect(calls).toHaveLength(60)
  })

  it('that fails is called again after longer and longer pauses; the record waits, others go on', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    let isBroken = true
    const { calls, handle } = noted(({ after, before }) => {
      // What has no text: telling of it must not end the consumer.
      if (isBroken && (after ?? before)?._id === bad) throw Object.create(null)
    })
    const app = await consuming(it.app(), handle)
    const { _id: bad } = await tasks(app).insert({ title: 'bad', due: new Date(5) })
    await tasks(app).insert({ title: 'good' })
    await tasks(app).update(bad, { title: 'worse' })
    await tasks(app).delete(bad)
    await runDue(app)
    expect(calls).toEqual(['created bad 1', 'created good 1'])
    const seconds: number[] = []
    for (let second = 1; second <= 60; second += 1) {
      it.clock.at += 1000
      const before = calls.length
      await runDue(app)
      if (calls.length > before) seconds.push(second)
    }
    expect(seconds).toEqual([1, 4, 10, 22, 49])
    isBroken = false
    await tasks(app).insert({ title: 'new' })
    it.clock.at += 3_600_000
    await runDue(app)
    expect(calls.slice(-4).toSorted()).toEqual([
      'created bad 7',
      'created new 1',
      'removed worse 1',
      'updated worse 1',
    ])
    const own = calls.filter((call) => !/good|new/.test(call)).slice(-3)
    expect(own).toEqual(['created bad 7', 'updated worse 1', 'removed worse 1'])
    const warned = it.log.lines.filter(({ level }) => level === 'warn')
    expect(warned[0]?.message).toBe("Consumer 'mailer' failed, and tries again")
    expect(warned[0]?.details).toMatchObject({ model: 'Task', attempt: 1 })
    expect(await app.background[0]?.status()).toMatchObject({ waiting: 0, aside: 0 })
  })

  it('sets a change aside after its attempts, goes on with the record, and tries it again when told', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    let isBroken = true
    const dues: unknown[] = []
    const { calls, handle } = noted(({ kind, after }) => {
      if (kind !== 'created') return
      dues.push(after?.due)
      if (isBroken) throw new Error('no paper')
    })
    const app = await consuming(it.app(), handle, { maxAttempts: 3 })
    const { _id } = await tasks(app).insert({ title: 'a', due: new Date(5) })
    await tasks(app).update(_id, { title: 'b' })
    for (let hour = 0; hour < 5; hour += 1) {
      await runDue(app)
      it.clock.at += 3_600_000
    }
    expect(calls).toEqual(['created a 1', 'created a 2', 'created a 3', 'updated b 1'])
    const [work] = app.background
    app.mount('/', metrics())
    const figures = await (await app.handle(new Request('http://localhost/metrics'))).text()
    expect(figures).toContain('fieldgate_consumer_lag_seconds{consumer="mailer"} 0\n')
    expect(figures).toContain('fieldgate_consumer_waiting{consumer="mailer"} 0\n')
    expect(figures).toContain('fieldgate_consumer_set_aside{consumer="mailer"} 1\n')
    expect(await work?.status()).toMatchObject({
      ...{ kind: 'consumer', name: 'mailer', waiting: 0, aside: 1, behind: undefined },
      examples: [{ model: 'Task', record: _id, to: '', attempts: 3, error: 'no paper' }],
    })
    expect(it.log.text).toContain("Consumer 'mailer' has set a change aside")
    isBroken = false
    expect(await work?.retry?.()).toBe(1)
    await runDue(app)
    expect(calls.at(-1)).toBe('created a 1')
    expect(dues.at(-1)).toEqual(new Date(5))
    expect(await work?.status()).toMatchObject({ waiting: 0, aside: 0 })
  })

  it('goes on in another process where one has died, and leaves nothing out', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const dead = noted(({ after }) => (after?.title === 'b' ? new Promise(() => {}) : undefined))
    const first = await consuming(it.app(), dead.handle)
    const { calls, handle } = noted()
    const second = await consuming(it.app(), handle)
    for (const title of ['a', 'b', 'c']) await tasks(first).insert({ title })
    void runDue(first)
    await expect.poll(() => dead.calls).toHaveLength(2)
    await runDue(second)
    expect(calls).toEqual([])
    it.clock.at += 21_000
    await runDue(second)
    // What it had done since it last stored how far it was comes again.
    expect(calls.slice(-2)).toEqual(['created b 1', 'created c 1'])
  })

  it('begins with what is written from its first start on, or with the oldest change there is', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const early = it.app()
    await early.store.collection(Task).insert({ title: 'early' })
    const [now, start] = [noted(), noted()]
    const app = await consuming(it.app(), now.handle)
    consume(app, 'archive', { models: [Task], handle: start.handle, from: 'start' })
    await app.ready()
    await tasks(app).insert({ title: 'late' })
    await runDue(app)
    expect(now.calls).toEqual(['created late 1'])
    expect(start.calls).toEqual(['created early 1', 'created late 1'])
  })

  it('has what was written of a model that a new version adds, though an old one went on meanwhile', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const calls: string[] = []
    const version = async (name: string, ...models: [typeof Task, ...(typeof Note)[]]) => {
      const app = it.app()
      app.store.collection(Note)
      consume(app, 'mailer', {
        ...{ models, concurrency: 10 },
        handle: ({ model, after }) =>
          calls.push(`${name} ${model} ${Object.values(after ?? {})[1]}`),
      })
      await app.ready()
      return app
    }
    const old = await version('old', Task)
    await old.store.collection(Note).insert({ text: 'before' })
    await tasks(old).insert({ title: 'a' })
    await runDue(old)
    const later = await version('new', Task, Note)
    for (let at = 0; at < 150; at += 1) await later.store.collection(Note).insert({ text: `${at}` })
    await tasks(later).insert({ title: 'b' })
    await runDue(old)
    await later.store.collection(Note).insert({ text: 'after' })
    await runDue(later)
    await tasks(later).insert({ title: 'c' })
    await runDue(old)
    await runDue(await version('new', Task, Note))
    const missed = Array.from({ length: 150 }, (_, at) => `new Note ${at}`)
    expect(calls.filter((one) => !missed.includes(one))).toEqual([
      ...['old Task a', 'old Task b', 'new Note after', 'old Task c'],
    ])
    expect(calls.filter((one) => missed.includes(one)).sort()).toEqual(missed.sort())
  })

  it('whose next changes were dropped says so, and goes on with the oldest one', async () => {
    const Brief = defineModel('Brief', {
      fields: { title: z.string() },
      changes: { keep: '0.05s' },
    })
    const it = apps('2026-11-26T12:00:00Z')
    const calls: unknown[] = []
    const open = async () => {
      const app = it.app()
      consume(app, 'slow', {
        models: [Brief],
        handle: ({ after }) => void calls.push(after?.title),
      })
      await app.ready()
      return app
    }
    const first = await open()
    await first.store.collection(Brief).insert({ title: 'lost' })
    await first.close()
    await new Promise((resolve) => setTimeout(resolve, 60))
    const app = await open()
    await app.store.collection(Brief).insert({ title: 'there' })
    await runDue(app)
    expect(calls).toEqual(['there'])
    expect(it.log.text).toContain("Consumer 'slow' goes on with the oldest change that is there")
  })

  it('whose next changes of one model were dropped gets all that are left of another, and each once', async () => {
    const fields = { title: z.string() }
    const Brief = defineModel('Brief', { fields, changes: { keep: '0.05s' } })
    const Kept = defineModel('Kept', { fields, changes: { keep: 'forever' } })
    const it = apps('2026-11-26T12:00:00Z')
    const calls: unknown[] = []
    const open = async () => {
      const app = it.app()
      const handle = ({ after }: ChangeOf<typeof Kept>) => void calls.push(after?.title)
      consume(app, 'slow', { models: [Brief, Kept], handle })
      await app.ready()
      return app
    }
    const first = await open()
    const write = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ title: `${count} ${at}` }))
    for (const one of write(120)) await first.store.collection(Kept).insert(one)
    await runDue(first)
    for (const one of write(250)) await first.store.collection(Kept).insert(one)
    await first.store.collection(Brief).insert({ title: 'lost' })
    await first.close()
    await new Promise((resolve) => setTimeout(resolve, 60))
    const told = () => it.log.text.split('goes on with the oldest change').length
    const [before, app] = [told(), await open()]
    await app.store.collection(Brief).insert({ title: 'there' })
    const due = runDue(app)
    // If the poll fails, nothing waits for it.
    due.catch(() => {})
    await expect.poll(() => calls.at(-1), { timeout: 5000 }).toBe('there')
    const kept = [...write(120), ...write(250)]
    expect(calls).toEqual([...kept.map(({ title }) => title), 'there'])
    expect(told() - before).toBe(1)
    await due
  })

  it('that is behind for half of the time that its changes are kept is warned of', async () => {
    const it = apps(new Date().toISOString())
    const app = await consuming(it.app(), () => {})
    await tasks(app).insert({ title: 'a' })
    it.clock.at += 13 * 3_600_000
    await runDue(app)
    expect(it.log.text).toMatch(
      /Consumer 'mailer' is 78\d minutes behind\. Changes of 'Task' are kept for 1440 minutes/,
    )
  })

  it('whose function does not end is warned of until it does', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    // Ten minutes last as long as a tenth of a second.
    const { setInterval: real, clearInterval: end } = globalThis
    const timers = new Set<unknown>()
    vi.stubGlobal('setInterval', (run: () => void, ms: number) => {
      const timer = real(run, ms / 6000)
      timers.add(timer)
      return timer
    })
    vi.stubGlobal('clearInterval', (timer: never) => timers.delete(timer) && end(timer))
    onTestFinished(() => void vi.unstubAllGlobals())
    const told = () => it.log.text.includes("Consumer 'mailer' has not ended for 20 minutes")
    const app = await consuming(it.app(), () => vi.waitUntil(told, 10_000))
    await tasks(app).insert({ title: 'a' })
    await runDue(app)
    expect(timers).toEqual(new Set())
    expect(await app.background[0]?.status()).toMatchObject({ waiting: 0, behind: undefined })
  })

  it('is not counted as failed when the server closes', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const { calls, handle } = noted(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
    )
    const app = await consuming(it.app(), handle)
    const running = await runBackground(app)
    await tasks(app).insert({ title: 'a' })
    await expect.poll(() => calls).toEqual(['created a 1'])
    await running.close(0)
    const next = noted()
    await runDue(await consuming(it.app(), next.handle))
    expect(next.calls).toEqual(['created a 1'])
  })

  it('gives each try a signal of its own: what is made of one stays no longer', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const signals = new Set<AbortSignal>()
    const app = await consuming(it.app(), (_, { signal }) => void signals.add(signal))
    for (const title of ['a', 'b']) await tasks(app).insert({ title })
    await runDue(app)
    expect(signals.size).toBe(2)
  })

  it('handles several records at the same time if it may, and each in order', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    let [most, now] = [0, 0]
    const four = Promise.withResolvers<void>()
    const tooLong = setTimeout(four.resolve, 20_000)
    onTestFinished(() => clearTimeout(tooLong))
    const { calls, handle } = noted(async () => {
      now += 1
      most = Math.max(most, now)
      if (now === 4) four.resolve()
      await four.promise
      now -= 1
    })
    const app = await consuming(it.app(), handle, { concurrency: 4 })
    const made = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((title) => tasks(app).insert({ title })),
    )
    for (const { _id, title } of made) await tasks(app).update(_id, { title: `${title}2` })
    await runDue(app)
    expect(most).toBe(4)
    for (const title of ['a', 'b', 'c', 'd', 'e']) {
      expect(calls.filter((call) => call.includes(` ${title}`))).toEqual([
        `created ${title} 1`,
        `updated ${title}2 1`,
      ])
    }
  })
})

describe('consume()', () => {
  const handle = () => {}
  it.each<[string, unknown, string]>([
    [
      'a model without changes',
      { models: [Plain], handle },
      "'Plain' keeps no changes: add 'changes: true' to the model",
    ],
    ['no models', { models: [], handle }, "'models' is empty"],
    ['no function', { models: [Task] }, "'models' and 'handle' are missing"],
    ['an unknown option', { models: [Task], handle, retries: 3 }, "unknown option 'retries'"],
    ['another start', { models: [Task], handle, from: 'end' }, "'from' must be one of now, start"],
  ])('refuses %s', (_, options, message) => {
    const app = apps('2026-11-26T12:00:00Z').app()
    expect(() => consume(app, 'mailer', options as never)).toThrow(TypeError)
    expect(() => consume(app, 'mailer', options as never)).toThrow(`consumer 'mailer': ${message}`)
    expect(app.background).toEqual([])
  })

  it('refuses two consumers of one name, and takes models of several types', () => {
    const app = apps('2026-11-26T12:00:00Z').app()
    consume(app, 'mailer', {
      models: [Task, Note],
      handle: ({ after }) => after && ('title' in after ? after.title : after.text),
    })
    expect(() => consume(app, 'mailer', { models: [Task], handle })).toThrow(
      "consumer 'mailer': there is a consumer of this name already",
    )
  })
})
