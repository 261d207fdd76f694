/**
 * fieldgate on Node: `node.js <MongoDB address or SQLite file>`
 *
 * @module
 */

import process from 'node:process'
import { serve } from '../../adapters/runtimes/node.ts'
import { benchApp } from './app.ts'
import { storeAt } from './store.ts'

const app = benchApp(await storeAt(process.argv[2] ?? ''))
const processes = Number(process.env.BENCH_PROCESSES ?? 1)
const { url } = await serve(app, { port: 0, hostname: '127.0.0.1', processes })
console.log(`listening ${new URL(url).port}`)

// A profile is written when the process ends by itself.
process.once('SIGTERM', () => process.exit())
