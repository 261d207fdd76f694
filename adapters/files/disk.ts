/**
 * Files in a folder of this machine, served by the app itself: nothing to install.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, open, opendir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { clearTimeout, setTimeout } from 'node:timers'
import { type FileMeta, type FileStore, isKey } from '../../src/ports/services/files.ts'
import { startedOnce } from '../../src/ports/values/once.ts'
import { uploads } from '../../src/uploads/index.ts'
import { append, bytesOf, stageIn } from './bytes.ts'
import { type LinkOptions, links } from './links.ts'
import type { ServedObject } from './serving.ts'

/** Options of `diskFiles`. */
export interface DiskOptions extends LinkOptions {
  /** The folder; it is created if it does not exist. */
  readonly root: string
}

/** A file whose bytes nobody has begun to read, nor cancelled, is closed after this many milliseconds. */
const UNREAD_MS = 30_000

/** What a crashed process has begun to write is removed after this many milliseconds. */
const ABANDONED_MS = 60 * 60 * 1000

/**
 * Keeps files below `root`. The app serves `public-read` files to everyone, and private ones through signed links that
 * expire. Throws a `TypeError` naming the option if one makes no sense.
 *
 * ```ts
 * const files = diskFiles({ root: './uploads', secret: process.env.FILES_SECRET ?? '' })
 * const app = createApp({ store: sqliteStore({ path: 'atlas.db' }), files })
 * ```
 */
export function diskFiles(options: DiskOptions): FileStore {
  // Its folders are those of one request: a file would be stored, and gone.
  if (globalThis.navigator?.userAgent === 'Cloudflare-Workers') {
    throw new TypeError('diskFiles: Workers have no disk. Take r2Files or s3Files')
  }
  const given = { ...options, root: options?.root ?? '' }
  const linked = links('diskFiles', given, (key) => describedObject(folder, key), {
    root: { must: 'be a folder', test: (root) => typeof root === 'string' && root !== '' },
  })
  const root = resolve(given.root)
  const folder: Folders = {
    objects: join(root, 'objects'),
    meta: join(root, 'meta'),
    incoming: join(root, 'incoming'),
  }
  const ready = startedOnce(() => prepare(folder))
  return {
    uploads,
    async put(key, body, meta, { signal } = {}) {
      await ready()
      const object = pathIn(folder.objects, key)
      const description = `${pathIn(folder.meta, key)}.json`
      const text = new TextEncoder().encode(JSON.stringify(meta))
      const written = join(folder.incoming, randomUUID())
      const described = `${written}.json`
      try {
        await write(written, body, meta.size, signal)
        await write(described, text, text.length)
        signal?.throwIfAborted()
        // The description is stored first and removed last, so an object is never without one.
        await moveInto(folder.meta, described, description)
        await moveInto(folder.objects, written, object)
      } catch (error) {
        const begun = [written, described, object, description]
        await Promise.allSettled(begun.map((path) => rm(path, { force: true })))
        throw error
      }
      return linked.urlOf(key)
    },
    async delete(key) {
      await rm(pathIn(folder.objects, key), { force: true })
      await rm(`${pathIn(folder.meta, key)}.json`, { force: true })
    },
    ...linked,
    async *list(prefix) {
      // The sweeper is calling.
      await removeAbandoned(folder)
      const start = prefix.slice(0, prefix.lastIndexOf('/') + 1)
      for await (const name of filesBelow(folder.meta, start)) {
        const key = name.replace(/\.json$/, '')
        if (!key.startsWith(prefix)) continue
        const found = await stat(join(folder.meta, name)).catch(ignoreAbsent)
        if (found) yield { key, storedAt: found.mtimeMs }
      }
    },
    async ping() {
      await ready()
      for (const path of Object.values(folder)) {
        // Not `access`: Deno's needs a permission of its own, and ends the process without it (2.9).
        const made = await mkdtemp(join(path, 'ping-')).catch(ignoreFull)
        if (made) await rmdir(made)
      }
    },
    async stage() {
      await ready()
      return stageIn(folder.incoming)
    },
  }
}

interface Folders {
  readonly objects: string
  readonly meta: string
  readonly incoming: string
}

async function prepare(folder: Folders): Promise<void> {
  for (const path of Object.values(folder)) await mkdir(path, { recursive: true, mode: 0o700 })
  await removeAbandoned(folder)
}

async function removeAbandoned({ incoming }: Folders): Promise<void> {
  for await (const name of filesBelow(incoming, '')) {
    const path = join(incoming, name)
    const found = await stat(path).catch(ignoreAbsent)
    if (found && found.mtimeMs < Date.now() - ABANDONED_MS) await rm(path, { force: true })
  }
}

/** A key's path; a key that could lead out of the folder is refused, no matter who made it. */
function pathIn(folder: string, key: string): string {
  if (!isKey(key)) throw new TypeError('diskFiles: not a key')
  return join(folder, key)
}

/** Writes bytes to a new file, durably. */
async function write(
  path: string,
  body: ReadableStream<Uint8Array> | Uint8Array,
  size: number,
  signal?: AbortSignal,
): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    let written = 0
    for await (const chunk of body instanceof Uint8Array ? [body] : body) {
      signal?.throwIfAborted()
      await append(file, chunk, written)
      written += chunk.length
    }
    if (written !== size) throw new Error(`received ${written} bytes instead of ${size}`)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Gives a written file its name, durably: the folder's own entry is synced as well. */
async function moveInto(top: string, from: string, to: string): Promise<void> {
  const made = await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await rename(from, to)
  for (let path = dirname(to); ; path = dirname(path)) {
    await syncFolder(path)
    if (!made || path === top) return
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } catch (error) {
    // Windows cannot sync a folder.
    if (process.platform !== 'win32') throw error
  } finally {
    await handle.close()
  }
}

async function describedObject(folder: Folders, key: string): Promise<ServedObject | undefined> {
  const path = pathIn(folder.objects, key)
  try {
    const text = await readFile(`${pathIn(folder.meta, key)}.json`, 'utf8')
    const { mtimeMs, size } = await stat(path)
    return {
      ...(JSON.parse(text) as FileMeta),
      size,
      storedAt: mtimeMs,
      etag: `"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`,
      async read(start, end) {
        // Now, not when it is read: a file that is open can be removed, and is sent whole.
        const file = await open(path, 'r').catch(ignoreAbsent)
        if (!file) return undefined
        const unread = setTimeout(() => void file.close(), UNREAD_MS).unref()
        const begun = () => clearTimeout(unread)
        const done = () => {
          begun()
          return file.close()
        }
        return bytesOf(file, start, end, { begun, done })
      },
    }
  } catch (error) {
    return ignoreAbsent(error)
  }
}

/** The paths of the files below `folder`, relative to it. */
async function* filesBelow(top: string, folder: string): AsyncGenerator<string> {
  const entries = await opendir(join(top, folder)).catch(ignoreAbsent)
  if (!entries) return
  for await (const entry of entries) {
    if (entry.isDirectory()) yield* filesBelow(top, `${folder}${entry.name}/`)
    else yield `${folder}${entry.name}`
  }
}

function ignoreAbsent(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException
  // A name may be one that no file can have.
  if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'ENAMETOOLONG') throw error
}

/** The files of a full disk can be read. */
function ignoreFull(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error
}
