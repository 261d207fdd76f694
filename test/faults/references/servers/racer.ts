/** Answers what its parent asks over IPC: `racer.ts <place as JSON>`. */

import { storeAt, worldOn } from '../world.ts'

const world = worldOn(storeAt(JSON.parse(process.argv[2] ?? '')))
await world.app.ready()
process.on('message', async ({ at, asked }: { at: number; asked: never }) => {
  const told = await world.ask(asked)
  process.send?.({ at, told })
})
process.send?.('ready')
