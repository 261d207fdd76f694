/**
 * The album on SQLite and a folder, which tells the most memory that its process has had: `PUT /peak` begins anew,
 * `GET /peak` tells in bytes; `GET /open` tells how many files it has open, `GET /rss` what it has
 * in memory now.
 *
 * @module
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { diskFiles } from '../../../../adapters/files/disk.ts'
import { sqliteStore } from '../../../../adapters/stores/sqlite/node.ts'
import type { App } from '../../../../src/index.ts'
import { album } from './album.ts'

/** The app; the environment says where its files live. */
export function measured(): App {
  const root = process.env.FILES_ROOT ?? ''
  const app = album({
    store: sqliteStore(),
    files: diskFiles({ root, secret: 'a secret of at least thirty-two characters' }),
  })
  return app.use((request) => {
    const { pathname } = new URL(request.url)
    if (pathname === '/open') return new Response(String(readdirSync('/proc/self/fd').length))
    if (pathname === '/rss') return new Response(String(memory('VmRSS')))
    if (pathname !== '/peak') return
    // Linux: the mark of the highest memory is set back by writing 5.
    if (request.method === 'PUT') writeFileSync('/proc/self/clear_refs', '5')
    return new Response(String(memory('VmHWM')))
  })
}

/** A line of the process's status, in bytes. */
function memory(line: 'VmHWM' | 'VmRSS'): number {
  // Bun lets garbage lie for hundreds of megabytes.
  if (line === 'VmRSS') (globalThis as { Bun?: { gc(now: boolean): void } }).Bun?.gc(true)
  const [, kib] =
    new RegExp(`${line}:\\s+(\\d+) kB`).exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kib) * 1024
}
