/**
 * What every file store promises: each sentence of src/ports/files.ts as a case. It runs in any runtime.
 *
 * @module
 */

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import type { FileMeta, FileStore } from '../../../src/ports/files.ts'
import type { Contract } from '../suite.ts'

/** A store, and how the world asks for its objects. */
export interface OpenFiles {
  readonly files: FileStore
  /** GET of a URL of the store, wherever it is served. */
  get(url: string, headers?: Record<string, string>): Promise<Response>
  /** The store's clock goes on; absent where it is the real one. */
  pass?(seconds: number): void
}

const text = (content: string): Uint8Array => new TextEncoder().encode(content)

function meta(size: number, more: Partial<FileMeta> = {}): FileMeta {
  return { contentType: 'image/png', contentDisposition: 'inline', acl: 'private', size, ...more }
}

/** A folder that no other case has: cases share their store. */
function newFolder(): string {
  return crypto.randomUUID()
}

/** A key that no other case has. */
function newKey(folder = 'files'): string {
  return `${folder}/${crypto.randomUUID()}.png`
}

async function keysOf(files: FileStore, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of files.list(prefix)) keys.push(key)
  return keys.sort()
}

function streamOf(chunks: Iterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]()
  return new ReadableStream({
    pull(controller) {
      const { done, value } = iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}

/** Stores `content` and gives its URL. */
function put(files: FileStore, content: string, more?: Partial<FileMeta>, key = newKey()) {
  const bytes = text(content)
  return files.put(key, bytes, meta(bytes.length, more))
}

/** The file store contract; cases may share a store. */
export const fileContract = {
  async 'bytes come back under a signed link, with their type and disposition'({ files, get }) {
    const url = await put(files, 'hello', {
      contentType: 'application/pdf',
      contentDisposition: 'attachment',
    })
    const response = await get(await files.signedUrl(url, 60))
    equal(response.status, 200)
    equal(response.headers.get('content-type'), 'application/pdf')
    match(response.headers.get('content-disposition') ?? '', /^attachment/)
    equal(await response.text(), 'hello')
  },

  async 'a stream is stored like bytes'({ files, get }) {
    const chunks = Array.from({ length: 50 }, (_, index) => text(`${index}`.repeat(1000)))
    const whole = chunks.map((chunk) => new TextDecoder().decode(chunk)).join('')
    const url = await files.put(newKey(), streamOf(chunks), meta(whole.length))
    equal(await (await get(await files.signedUrl(url, 60))).text(), whole)
  },

  async 'an object may be empty'({ files, get }) {
    const url = await files.put(newKey(), streamOf([]), meta(0))
    const response = await get(await files.signedUrl(url, 60))
    equal(response.status, 200)
    equal((await response.arrayBuffer()).byteLength, 0)
  },

  async 'put resolves to the URL that urlOf gives, and keyOf leads back from it and from signed links'({
    files,
  }) {
    const key = newKey('some/folder')
    const url = await put(files, 'x', {}, key)
    equal(url, files.urlOf(key))
    equal(files.keyOf(url), key)
    equal(files.keyOf(await files.signedUrl(url, 60)), key)
  },

  async 'keyOf knows no other text'({ files }) {
    const url = files.urlOf('files/1-a.png')
    for (const other of [
      '',
      'files/1-a.png',
      'https://example.com/files/1-a.png',
      `x${url}`,
      url.replace('files/', 'files/../'),
      url.replace('files/', '/etc/'),
      url.replace('1-a', '%2e%2e%2f1-a'),
      url.replace('1-a', '1 a'),
      files.urlOf(''),
    ]) {
      equal(files.keyOf(other), undefined, other)
    }
  },

  async 'ping resolves where objects can be stored, and leaves nothing behind'({ files }) {
    await files.ping?.()
    deepEqual(await keysOf(files, 'fieldgate'), [])
  },

  async 'a private object does not open without a signature'({ files, get }) {
    const url = await put(files, 'secret')
    const response = await get(url)
    equal(response.status, 403)
    ok(!(await response.text()).includes('secret'))
  },

  async 'a public-read object opens for everybody'({ files, get }) {
    const url = await put(files, 'for all', { acl: 'public-read' })
    const response = await get(url)
    equal(response.status, 200)
    equal(await response.text(), 'for all')
  },

  async 'a forged link does not open, and a link opens no other object'({ files, get }) {
    const link = await files.signedUrl(await put(files, 'mine'), 60)
    const other = newKey()
    await put(files, 'other', {}, other)
    const [, query = ''] = link.split('?')
    equal((await get(`${files.urlOf(other)}?${query}`)).status, 403)
    const forged = link.replace(
      /(signature=)(.)/i,
      (_, name, first) => name + (first === 'a' ? 'b' : 'a'),
    )
    equal((await get(forged)).status, 403)
    const longer = link.replace(
      /(expires=)(\d+)/i,
      (_, name, seconds) => name + (Number(seconds) + 1000),
    )
    equal((await get(longer)).status, 403)
  },

  async 'a signed link expires'({ files, get, pass }) {
    const link = await files.signedUrl(await put(files, 'soon gone'), 1)
    pass?.(2)
    const deadline = Date.now() + 10_000
    let { status } = await get(link)
    while (status === 200 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 250))
      status = (await get(link)).status
    }
    equal(status, 403)
  },

  async 'a steady link stays the same for a while, and then opens the object as long as was asked'({
    files,
    get,
    pass,
  }) {
    const url = await put(files, 'steady')
    const day = 24 * 60 * 60
    const links = new Set<string>()
    for (let round = 0; round < 4; round += 1) {
      links.add(await files.signedUrl(url, 60, day))
      // A link that is not steady is another one after a second.
      if (pass) pass(1)
      else await new Promise((resolve) => setTimeout(resolve, 400))
    }
    // Midnight may pass once.
    ok(links.size <= 2, `${links.size} links`)
    for (const link of links) equal(await (await get(link)).text(), 'steady')
  },

  async 'a part of an object is a 206, and one beyond its end is refused'({ files, get }) {
    const link = await files.signedUrl(await put(files, '0123456789'), 60)
    for (const [range, part, content] of [
      ['bytes=2-4', 'bytes 2-4/10', '234'],
      ['bytes=7-', 'bytes 7-9/10', '789'],
      ['bytes=-2', 'bytes 8-9/10', '89'],
      ['bytes=5-500', 'bytes 5-9/10', '56789'],
    ] as const) {
      const response = await get(link, { range })
      equal(response.status, 206, range)
      equal(response.headers.get('content-range'), part)
      equal(await response.text(), content)
    }
    equal((await get(link, { range: 'bytes=10-' })).status, 416)
  },

  async 'an object that a client has already is a 304'({ files, get }) {
    const link = await files.signedUrl(await put(files, 'unchanged'), 60)
    const first = await get(link)
    await first.text()
    const etag = first.headers.get('etag') ?? ''
    match(etag, /^"[^"]+"$/)
    const second = await get(link, { 'if-none-match': etag })
    equal(second.status, 304)
    equal(await second.text(), '')
    equal((await get(link, { 'if-none-match': '"other"' })).status, 200)
  },

  async 'delete removes an object, and an absent one is no error'({ files, get }) {
    const key = newKey()
    const url = await put(files, 'gone', { acl: 'public-read' }, key)
    await files.delete(key)
    await files.delete(key)
    await files.delete(newKey())
    ok([403, 404].includes((await get(await files.signedUrl(url, 60))).status))
    deepEqual(await keysOf(files, key), [])
  },

  async 'list gives the objects under a prefix with their time, and no others'({ files }) {
    const started = Date.now()
    const top = newFolder()
    const keys = [newKey(`${top}/a`), newKey(`${top}/a`), newKey(`${top}/a/deep`)]
    for (const key of [...keys, newKey(`${top}/b`), newKey(`${top}/ab`)])
      await put(files, 'x', {}, key)
    deepEqual(await keysOf(files, `${top}/a/`), keys.toSorted())
    for await (const { storedAt } of files.list(`${top}/a/`)) {
      ok(Math.abs(storedAt - started) < 60_000, `${storedAt} at ${started}`)
    }
    deepEqual(await keysOf(files, `${newFolder()}/`), [])
  },

  async 'list gives more objects than fit into one page'({ files }) {
    const folder = newFolder()
    const keys = Array.from({ length: 1010 }, () => newKey(folder))
    for (let at = 0; at < keys.length; at += 50) {
      await Promise.all(keys.slice(at, at + 50).map((key) => put(files, 'x', {}, key)))
    }
    deepEqual(await keysOf(files, `${folder}/`), keys.toSorted())
  },

  async 'a stream of another length than was said stores nothing'({ files }) {
    for (const said of [3, 100]) {
      const key = newKey('wrong')
      await rejects(files.put(key, streamOf([text('12345')]), meta(said)))
      deepEqual(await keysOf(files, key), [])
    }
  },

  async 'a stream that fails stores nothing'({ files }) {
    const key = newKey('failing')
    let pulls = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulls += 1
        if (pulls === 3) controller.error(new Error('the source broke'))
        else controller.enqueue(text('part'))
      },
    })
    await rejects(files.put(key, body, meta(100)))
    deepEqual(await keysOf(files, key), [])
  },

  async 'a put whose signal is aborted rejects and stores nothing'({ files }) {
    const key = newKey('aborted')
    const stop = new AbortController()
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(text('x'.repeat(1000)))
        stop.abort(new Error('too late'))
      },
    })
    await rejects(files.put(key, body, meta(1_000_000), { signal: stop.signal }))
    deepEqual(await keysOf(files, key), [])
  },

  async 'bytes that are set aside come back, as often as they are asked for'({ files }) {
    const stage = await files.stage?.()
    if (!stage) return
    await stage.write(text('one '))
    await stage.write(text('two'))
    for (const _ of [1, 2]) equal(await new Response(stage.read()).text(), 'one two')
    await stage.discard()
    await stage.discard()
  },

  async '192 MB pass through without being held'({ files, get }) {
    const block = new Uint8Array(64 * 1024).fill(7)
    const count = 3072
    const blocks = function* () {
      for (let index = 0; index < count; index += 1) yield block
    }
    const size = block.length * count
    const memory = memoryWatch()
    const url = await files.put(newKey(), streamOf(blocks()), meta(size))
    const response = await get(await files.signedUrl(url, 60))
    let received = 0
    for await (const chunk of response.body ?? []) received += chunk.length
    const grown = memory.stop()
    equal(received, size)
    // Garbage that a busy machine has not collected yet is not what is held.
    ok(grown < (size * 2) / 3, `${grown} bytes more memory`)
  },
} satisfies Contract<OpenFiles>

/** The most memory that the process has had beyond what it had, where a process can be asked. */
function memoryWatch(): { stop(): number } {
  const usage = (globalThis as { process?: { memoryUsage?(): { rss: number } } }).process
    ?.memoryUsage
  let rss: () => number = () => 0
  try {
    usage?.()
    rss = () => usage?.().rss ?? 0
  } catch {
    // workerd has the function, but no answer.
  }
  const before = rss()
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, rss())
  }, 20)
  return {
    stop() {
      clearInterval(timer)
      return Math.max(most, rss()) - before
    },
  }
}
