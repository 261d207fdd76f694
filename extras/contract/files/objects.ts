/** The file store port's promises about stored objects. */

import { deepEqual, equal, ok, rejects } from '../assert.ts'
import type { Contract } from '../verify.ts'
import { keysOf, meta, newFolder, newKey, type OpenFiles, put, streamOf, text } from './ask.ts'

/** Stored objects. */
export const objects: Contract<OpenFiles> = {
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

  async 'ping resolves where objects can be stored, and leaves nothing behind'({ files }) {
    await files.ping?.()
    deepEqual(await keysOf(files, 'fieldgate'), [])
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

  async 'a body of another length than was said stores nothing'({ files }) {
    for (const said of [3, 100]) {
      for (const body of [streamOf([text('12345')]), text('12345')]) {
        const key = newKey('wrong')
        await rejects(files.put(key, body, meta(said)))
        deepEqual(await keysOf(files, key), [])
      }
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

  async 'a large object passes through without being held'({ files, get }) {
    const memory = memoryWatch()
    const block = new Uint8Array(64 * 1024).fill(7)
    // 192 MB, of which garbage is a small part; 32 MB, several parts of an upload, where memory can't be measured.
    const count = memory.isKnown ? 3072 : 512
    const blocks = function* () {
      for (let index = 0; index < count; index += 1) yield block
    }
    const size = block.length * count
    const url = await files.put(newKey(), streamOf(blocks()), meta(size))
    const response = await get(await files.signedUrl(url, 60))
    let received = 0
    for await (const chunk of response.body ?? []) received += chunk.length
    const grown = memory.stop()
    equal(received, size)
    // Garbage that a busy machine has not collected yet does not count as held.
    ok(grown < (size * 2) / 3, `${grown} bytes more memory`)
  },
}

/** Measures the most memory that the process uses beyond what it used before, if the runtime can tell. */
function memoryWatch(): { readonly isKnown: boolean; stop(): number } {
  const usage = (globalThis as { process?: { memoryUsage?(): { rss?: number } } }).process
    ?.memoryUsage
  let rss: () => number = () => 0
  try {
    usage?.()
    rss = () => usage?.().rss ?? 0
  } catch {
    // workerd has the function, but it returns nothing.
  }
  const before = rss()
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, rss())
  }, 20)
  return {
    isKnown: before > 0,
    stop() {
      clearInterval(timer)
      return Math.max(most, rss()) - before
    },
  }
}
