/**
 * Some writers in a process of their own: `writer.ts <place as JSON> <seed> <writers> <rounds>`.
 *
 * @module
 */

import { appAt, write } from './world.ts'

const [place = '', seed = '', writers = '', rounds = ''] = process.argv.slice(2)
const app = await appAt(JSON.parse(place))
process.stdout.write('ready\n')
await Promise.all(
  Array.from({ length: Number(writers) }, (_, at) => write(app, Number(seed) + at, Number(rounds))),
)
await app.close()
