import { afterEach, describe, expect, it, vi } from 'vitest'
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
