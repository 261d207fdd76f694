/**
 * A process that serves the lists, and writes until its input ends: `server.ts <place as JSON> <seed> <writers> <port>`.
 *
 * @module
 */

import { serve } from '../../../adapters/runtimes/node.ts'
import { appAt, write } from './world.ts'

const [place = '', seed = '', writers = '', port = ''] = process.argv.slice(2)
const app = await appAt(JSON.parse(place))
await serve(app, { port: Number(port), hostname: '127.0.0.1', signals: false })
process.stdout.write('ready\n')
let isOver = false
process.stdin.resume().once('end', () => {
  isOver = true
})
await Promise.all(
  Array.from({ length: Number(writers) }, (_, at) =>
    write(app, Number(seed) + at, Number.POSITIVE_INFINITY, () => isOver),
  ),
)
// It goes on serving, until it is killed.
process.stdout.write('written\n')
