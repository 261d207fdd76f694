/**
 * Uploads that break off leave nothing: no object, no open file, no memory.
 */

import { readdirSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { runs } from '../runs.ts'
import { album, fileHead, rawBody, rawHeaders, textHead } from './album.ts'
import { png } from './png.ts'

it('uploads cut at a random byte leave no object, no open file and no memory behind', async () => {
  const { app, keys } = album()
  const large = new Uint8Array(700_000)
  large.set(png)
  const whole = rawBody([
    { headers: textHead('title'), content: 'x' },
    { headers: fileHead('image'), content: large },
    { headers: fileHead('others'), content: large },
  ])
  const cutOne = async () => {
    let left = Math.floor(Math.random() * (whole.length - 10))
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (left <= 0) return controller.error(new Error('the client went away'))
        const part = Math.min(left, 64 * 1024)
        controller.enqueue(whole.slice(0, part))
        left -= part
      },
    })
    const init = { method: 'POST', body, headers: rawHeaders, duplex: 'half' } as RequestInit
    const request = new Request('http://localhost/photos', init)
    expect((await app.handle(request)).status).toBe(400)
  }
  const uploads = async (count: number) => {
    for (let done = 0; done < count; done += 10)
      await Promise.all(Array.from({ length: 10 }, cutOne))
  }
  const open = () => readdirSync('/proc/self/fd').length
  const cuts = runs(600)
  await uploads(Math.ceil(cuts / 2))
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = () => {
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const before = { fds: open(), held: held() }
  await uploads(cuts)
  expect(open()).toBeLessThanOrEqual(before.fds + 2)
  // What is left of a refused one is read and dropped, some time after the response.
  await expect.poll(() => held() - before.held).toBeLessThan(16 * 1024 * 1024)
  expect(await keys()).toEqual([])
}, 300_000)
