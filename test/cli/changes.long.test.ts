import { expect, it, onTestFinished } from 'vitest'
import { project } from './project.ts'

const APP = `
import * as z from 'zod'
import { createApp, createRouter, defineModel } from 'fieldgate'
import { consume } from 'fieldgate/changes'
import { sqliteStore } from 'fieldgate/sqlite'

export const Task = defineModel('Task', { fields: { title: z.string() }, changes: true })
export const app = createApp({ store: sqliteStore({ path: 'tasks.db' }) })
app.mount('/tasks', createRouter({ model: Task, middlewares: [], allowedFields: ['title'] }))
consume(app, 'mailer', {
  models: [Task],
  maxAttempts: 1,
  handle({ after }) {
    if (process.env.PAPER !== 'yes') throw new Error('no paper')
    console.log('mailed ' + after?.title)
  },
})
`
const WRITE = `
import { app, Task } from './app.ts'
await app.ready()
await app.store.collection(Task).insert({ title: process.argv[2] })
await app.close()
`
const RUN = `
import { runDue } from 'fieldgate/changes'
import { app } from './app.ts'
await runDue(app)
await app.close()
`

it('fieldgate changes tells what was set aside, and tries it again', async () => {
  const folder = await project({
    'app.ts': APP,
    'write.ts': WRITE,
    'run.ts': RUN,
    'mended.ts': `process.env.PAPER = 'yes'\nawait import('./run.ts')`,
  })
  onTestFinished(() => folder.remove())
  await folder.node('write.ts', 'a')
  const behind = await folder.fieldgate('changes', './app.ts')
  expect(behind.code).toBe(0)
  expect(behind.out).toMatch(/^mailer +no +\d{4}-\S+Z +0 +0$/m)
  await folder.node('run.ts')
  const { code, out } = await folder.fieldgate('changes', './app.ts')
  expect(code).toBe(1)
  const [head, consumer, , title, aside] = out.split('\n')
  expect(head).toMatch(/^consumer +running +behind since +waiting +set aside$/)
  expect(consumer).toMatch(/^mailer +no +0 +1$/)
  expect(title).toMatch(/^set aside by +model +record +to +tries +since +error$/)
  expect(aside).toMatch(/^mailer +Task +[0-9a-f]{24} +1 +\S+Z +no paper$/)
  const copied = await folder.fieldgate('copy', './app.ts', '--to', 'sqlite:new.db')
  expect([copied.code, copied.err]).toEqual([
    0,
    expect.stringContaining('\nmailer has 0 changes waiting, 1 set aside. They are not copied: '),
  ])
  const json = await folder.fieldgate('changes', './app.ts', '--json')
  expect(JSON.parse(json.out)).toMatchObject([
    {
      name: 'mailer',
      aside: 1,
      waiting: 0,
      gone: [],
      examples: [{ model: 'Task', attempts: 1, error: 'no paper' }],
    },
  ])
  const unknown = await folder.fieldgate('changes', './app.ts', '--retry', 'mail')
  expect(unknown.code).toBe(2)
  expect(unknown.err).toContain("there is no consumer 'mail'. There are: mailer")
  const retried = await folder.fieldgate('changes', './app.ts', '--retry', 'mailer')
  expect([retried.code, retried.out.trim()]).toEqual([0, 'mailer: 1 are tried again'])
  expect((await folder.node('mended.ts')).out).toBe('mailed a\n')
  expect((await folder.fieldgate('changes', './app.ts')).code).toBe(0)
})

const GONE = `
import { createServer } from 'node:http'
import * as z from 'zod'
import { createApp, createRouter, defineModel } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'
import { runDue, webhooks } from 'fieldgate/webhooks'

const Task = defineModel('Task', { fields: { title: z.string() }, changes: true })
export const app = createApp({ store: sqliteStore({ path: 'tasks.db' }) })
const secret = 'whsec_' + btoa('s'.repeat(32))
let url = 'http://127.0.0.1/'
webhooks(app, { endpoints: () => [{ url, secret }], allowPrivate: true, as: () => ({ userId: 'one' }) })
app.mount('/tasks', createRouter({ model: Task, middlewares: [] }))

if (process.argv[2] === 'send') {
  const server = createServer((_, response) => response.writeHead(410).end()).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  url = 'http://127.0.0.1:' + server.address().port + '/\\u001b[2J\\nhooks'
  await app.ready()
  await app.store.collection(Task).insert({ title: 'a' })
  await runDue(app)
  await app.close()
  server.close()
}
`

it('fieldgate changes tells of endpoints that are gone, and nothing to the terminal', async () => {
  const folder = await project({ 'app.ts': GONE })
  onTestFinished(() => folder.remove())
  await folder.node('app.ts', 'send')
  const { code, out } = await folder.fieldgate('changes', './app.ts')
  expect([code, out.trim().split('\n').at(-1)]).toEqual([
    1,
    expect.stringMatching(
      /^webhooks: http:\/\/127\.0\.0\.1:\d+\/ \[2J hooks has responded with 410$/,
    ),
  ])
})
