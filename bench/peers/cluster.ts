/**
 * Any server of the bench in several processes, by `node:cluster` alone: `cluster.js <processes> <script> <place>`
 *
 * @module
 */

import cluster from 'node:cluster'
import process from 'node:process'

const [, , processes, exec = '', ...args] = process.argv
cluster.setupPrimary({ exec, args, execArgv: ['--no-warnings'] })
for (let started = 0; started < Number(processes); started += 1) cluster.fork()
