import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { project } from './project.ts'

const APP = `
import { createApp } from 'fieldgate'
import { jobs } from 'fieldgate/jobs'
import { sqliteStore } from 'fieldgate/sqlite'

export const app = createApp({ store: sqliteStore({ path: 'jobs.db' }) })
jobs(app, {
  nightly: { schedule: '0 3 * * *', timeZone: 'Europe/Zurich', run() {} },
  broken: { schedule: '* * * * * *', run() { throw new Error('no\\n\\u001b[31mpaper') } },
})
`
const RUN = `
import { runDue } from 'fieldgate/jobs'
import { app } from './app.ts'
await app.ready()
await new Promise((resolve) => setTimeout(resolve, 1100))
await runDue(app)
await app.close()
`

it('fieldgate jobs tells when each job runs next, and how its last run ended', async () => {
  const folder = await project({ 'app.ts': APP, 'run.ts': RUN })
  onTestFinished(() => folder.remove())
  const croner = fileURLToPath(new URL('../../node_modules/croner', import.meta.url))
  symlinkSync(croner, join(folder.folder, 'node_modules/croner'))
  await folder.node('run.ts')
  const { code, out } = await folder.fieldgate('jobs', './app.ts')
  expect(code).toBe(1)
  const [head, nightly, broken] = out.split('\n')
  expect(head).toMatch(/^job +schedule +time zone +next +last +error$/)
  expect(nightly).toMatch(
    /^nightly +0 3 \* \* \* +Europe\/Zurich +\d{4}-\d\d-\d\dT0[12]:00:00\.000Z$/,
  )
  expect(broken).toMatch(/^broken +\* \* \* \* \* \* +UTC +\S+Z +\S+Z +no \[31mpaper$/)
  const { out: json } = await folder.fieldgate('jobs', './app.ts', '--json')
  expect(JSON.parse(json)).toMatchObject([
    {
      name: 'nightly',
      schedule: '0 3 * * *',
      timeZone: 'Europe/Zurich',
      isRunning: false,
      error: '',
    },
    { name: 'broken', error: 'no \u001b[31mpaper' },
  ])
})
