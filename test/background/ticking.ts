/** A process with a job for each second, which notes in a file when a run begins and ends. */

import { appendFileSync } from 'node:fs'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { jobs, runBackground } from '../../src/background/jobs/index.ts'
import { createApp } from '../../src/index.ts'

const [, , database = '', notes = ''] = process.argv
const note = (what: string, at: Date) =>
  appendFileSync(notes, `${what} ${at.getTime()} ${process.pid}\n`)

const app = createApp({ store: sqliteStore({ path: database }) })
jobs(app, {
  everySecond: {
    schedule: '* * * * * *',
    async run({ at }) {
      note('begin', at)
      await new Promise((resolve) => setTimeout(resolve, 300))
      note('end', at)
    },
  },
})
await runBackground(app)
console.log('ready')
