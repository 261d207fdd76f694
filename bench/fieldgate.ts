/**
 * fieldgate as the bench measures it: the atlas's cities on SQLite, with the Node adapter.
 *
 * `node bench/fieldgate.ts <database>`
 *
 * @module
 */

import { serve } from '../adapters/runtimes/node.ts'
import { benchApp } from './app.ts'

const [path = ''] = process.argv.slice(2)
const { url } = await serve(benchApp(path), { port: 0, hostname: '127.0.0.1' })
console.log(`listening ${new URL(url).port}`)
