/**
 * A peer as a process: `node peer-process.ts <store> <place> <options>`.
 *
 * @module
 */

import type { Store } from '../../src/index.ts'
import { createPeer, type Task } from './peer.ts'

const [, , store = '', place = '', options = ''] = process.argv
// In this form a bundle has all of them.
const { open } = (await import(`./stores/${store}.ts`)) as { open(place: string): Store }
const ask = await createPeer(open(place), JSON.parse(options))

process.on('message', async ({ id, task }: { id: number; task: Task }) =>
  process.send?.({ id, done: await ask(task) }),
)
process.on('disconnect', () => process.exit())
process.send?.('ready')
