/**
 * A peer as a process: `node peer-process.ts <module of the store> <place> <options>`.
 *
 * @module
 */

import { pathToFileURL } from 'node:url'
import type { Store } from '../../src/index.ts'
import { createPeer, type Task } from './peer.ts'

const [, , opener = '', place = '', options = ''] = process.argv
const { open } = (await import(pathToFileURL(opener).href)) as { open(place: string): Store }
const ask = await createPeer(open(place), JSON.parse(options))

process.on('message', async ({ id, task }: { id: number; task: Task }) =>
  process.send?.({ id, done: await ask(task) }),
)
process.on('disconnect', () => process.exit())
process.send?.('ready')
