import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { uploaded } from '../../src/client/sending/upload.ts'
import { calls, recording, URL } from './recording.ts'
import { ScriptedServer, ScriptedStorage } from './scripted.ts'

/** The form of React Native: it takes whatever it is given, and files by their addresses on the device. */
class NativeForm {
  readonly parts: [name: string, value: unknown][] = []
  append(name: string, value: unknown) {
    this.parts.push([name, value])
  }
  getParts() {
    return this.parts
  }
}

const photo = { uri: 'file:///photos/1.png', name: 'oslo.png', type: 'image/png' }

describe('files in React Native', () => {
  afterEach(() => vi.unstubAllGlobals())

  async function sentFrom(values: object) {
    vi.stubGlobal('FormData', NativeForm)
    const { api, sent } = recording()
    const cities = calls(api)('/cities')
    await cities.create?.(values)
    await cities.update?.('x', values)
    const [created, updated] = sent.map(({ body }) => body)
    expect(updated).toEqual(created)
    return created
  }

  it('are those with an address and a type', async () => {
    expect(await sentFrom({ name: 'Oslo', tags: ['a'], photo })).toEqual({
      parts: [
        ['name', 'Oslo'],
        ['tags', '["a"]'],
        ['photo', photo],
      ],
    })
    const two = [photo, { ...photo, uri: 'content://photos/2' }]
    expect(await sentFrom({ photo: two })).toEqual({ parts: two.map((one) => ['photo', one]) })
  })

  it('are not the addresses in records', async () => {
    for (const link of [
      { uri: 'file:///a' },
      { uri: 1, type: 'a' },
      { uri: 'https://example.com/a.png', type: 'image/png' },
    ]) {
      expect(await sentFrom({ name: 'Oslo', links: [link, null] })).toEqual({
        name: 'Oslo',
        links: [link, null],
      })
    }
  })

  it('are no files elsewhere', async () => {
    const { api, sent } = recording()
    await calls(api)('/cities').create?.({ name: 'Oslo', photo })
    expect(sent.map(({ body }) => body)).toEqual([{ name: 'Oslo', photo }])
  })
})

describe('the progress of an upload in React Native', () => {
  afterEach(() => vi.unstubAllGlobals())

  /** A signal up to React Native 0.86: it has no reason, and can't throw it. */
  function signalOf(aborted: boolean): AbortSignal {
    const { signal } = new AbortController()
    for (const name of ['throwIfAborted', 'reason']) {
      Object.defineProperty(signal, name, { value: undefined })
    }
    return Object.defineProperty(signal, 'aborted', { value: aborted })
  }

  it.each([
    [false, 'status 200'],
    [true, 'Aborted'],
  ])('comes also with a signal, of which this is true: %j', async (isAborted, expected) => {
    class Request {
      upload = {}
      status = 200
      onloadend() {}
      open() {}
      send() {
        this.onloadend()
      }
    }
    vi.stubGlobal('XMLHttpRequest', Request)
    const init = { headers: new Headers(), signal: signalOf(isAborted) }
    const seen = uploaded('/cities', init, () => {}).then(
      ({ status }) => `status ${status}`,
      ({ message }) => message,
    )
    expect(await seen).toBe(expected)
  })
})

it('without AbortSignal.timeout, as up to 0.86, a refresh without an answer is given up', async () => {
  const own = Object.getOwnPropertyDescriptor(AbortSignal, 'timeout')
  Object.defineProperty(AbortSignal, 'timeout', { value: undefined, configurable: true })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => {
    vi.useRealTimers()
    Object.defineProperty(AbortSignal, 'timeout', own ?? {})
  })
  const server = new ScriptedServer()
  let refreshes = 0
  let isDead = true
  const fetch = (url: string, init: RequestInit) => {
    if (!isDead || !url.endsWith('/refresh')) return server.fetch(url, init)
    refreshes += 1
    return new Promise<Response>((_resolve, reject) => {
      init.signal?.addEventListener('abort', () => reject(new Error('Aborted')))
    })
  }
  const storage = new ScriptedStorage()
  const auth = calls(createClient(URL, { storage, fetch: fetch as never }))('/auth')
  await auth.login?.({ identifier: 'ann', password: 'a long pass phrase' })
  server.expire()
  const me = auth.me?.()
  await vi.waitFor(() => expect(refreshes).toBe(1))
  await vi.advanceTimersByTimeAsync(8000)
  await vi.waitFor(() => expect(refreshes).toBe(2))
  await vi.advanceTimersByTimeAsync(8000)
  expect(await me).toEqual({ ok: false, error: { status: 0, message: 'Aborted' } })
  isDead = false
  expect(await auth.me?.()).toMatchObject({ ok: true })
})
