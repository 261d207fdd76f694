import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, inject, it } from 'vitest'
import type * as Client from '../../src/client/index.ts'
import { createClient } from '../../src/client/index.ts'
import { calls, URL } from './recording.ts'

it('a part of the client that is out of reach is a failure of the call, and of nothing else', async () => {
  const outdir = join(inject('folder'), randomUUID())
  const entryPoints = [join(import.meta.dirname, '../../src/client/index.ts')]
  await build({
    entryPoints,
    bundle: true,
    format: 'esm',
    splitting: true,
    outdir,
    logLevel: 'error',
  })
  for (const file of await readdir(outdir)) {
    if (file !== 'index.js' && !file.startsWith('chunk-')) await rm(join(outdir, file))
  }
  const {
    createClient: create,
    ClientError,
    memoryStorage,
  } = (await import(/* @vite-ignore */ join(outdir, 'index.js'))) as typeof Client
  let sent = 0
  const api = create(URL, {
    storage: memoryStorage(),
    fetch: async () => {
      sent += 1
      return Response.json({ success: true, data: { _id: 'a' } })
    },
  })
  const cities = calls(api)('/cities')
  const found = await cities.get?.('a')
  expect(found).toMatchObject({ ok: true, data: { _id: 'a' } })
  const ifMatch = (found as { data: object }).data
  const failure = {
    ok: false,
    error: expect.objectContaining({ status: 0, message: expect.stringContaining('later') }),
  }
  expect(await cities.update?.('a', { name: 'b' }, { ifMatch })).toEqual(failure)
  expect(await cities.create?.({ photo: new Blob(['a']) })).toEqual(failure)
  expect(await cities.export?.('csv')).toEqual(failure)
  expect(await cities.aggregate?.({ count: true })).toEqual(failure)
  expect(await cities.history?.('a')).toEqual(failure)
  expect(await calls(api)('/auth').listKeys?.()).toEqual(failure)
  const errors: unknown[] = []
  const onError = (error: unknown) => void errors.push(error)
  await cities.live?.({}, { onChange() {}, onError, signal: AbortSignal.timeout(1000) })
  expect(errors).toEqual([failure.error])
  const all = (cities.all as unknown as () => AsyncIterable<unknown>)()
  await expect(all[Symbol.asyncIterator]().next()).rejects.toThrow(ClientError)
  expect(sent).toBe(1)
  await expect(cities.create?.({ population: Number.NaN })).rejects.toThrow(TypeError)
})

it('JSON of the calls, as a logger makes it, is empty and fails nothing', async () => {
  const auth = calls(createClient(URL))('/auth')
  expect(JSON.stringify({ auth })).toBe('{"auth":{}}')
  expect(await auth.toJSON?.()).toBeUndefined()
  await expect(auth.listKey?.()).rejects.toThrow(new TypeError("the client has no call 'listKey'"))
})

it('the calls have none of the marks that frameworks ask for', async () => {
  const auth = calls(createClient(URL))('/auth')
  for (const name of ['__v_raw', '__v_isRef', '$$typeof', '_isAMomentObject', 'then']) {
    expect(auth[name], name).toBeUndefined()
  }
  expect(auth.listKeys).toBeTypeOf('function')
})
