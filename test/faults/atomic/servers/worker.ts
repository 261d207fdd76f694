/** Does what its parent asks over IPC: `worker.ts <place as JSON>`. */

import { appAt, doTask, type Task } from '../place.ts'

const app = appAt(JSON.parse(process.argv[2] ?? ''))
await app.ready()
process.on('message', async (task: Task) => {
  process.send?.({ told: await doTask(app, task) })
})
process.send?.('ready')
