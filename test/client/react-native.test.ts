import { afterEach, describe, expect, it, vi } from 'vitest'
import { uploaded } from '../../src/client/sending/upload.ts'
import { calls, recording } from './recording.ts'

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
