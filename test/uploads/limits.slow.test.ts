/**
 * What a multipart body may be: sizes, counts, form; refused as soon as it is passed (answers, Uploads).
 */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Answer } from '../records/service.ts'
import { runs, seeded } from '../runs.ts'
import {
  album,
  BOUNDARY,
  fileHead,
  pieces,
  type RawPart,
  rawBody,
  rawHeaders,
  textHead,
} from './album.ts'
import { form, png } from './png.ts'

const MIB = 1024 * 1024
const shown = ({ status, body }: Answer) => [status, body.error]
const refusal = (text: string) => [400, `File upload error: ${text}`]

const title: RawPart = { headers: textHead('title'), content: 'x' }

function send(parts: readonly RawPart[], upload = {}, end?: string) {
  const served = album({ upload })
  return served.send('POST', '/photos', { body: rawBody(parts, end), headers: rawHeaders })
}

/** A body that sends `content` again and again, and breaks off after `most` bytes: a refusal came before. */
function endless(head: string, content: Uint8Array, most: number): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream({
    start: (body) => body.enqueue(Buffer.from(`--${BOUNDARY}\r\n${head}\r\n\r\n`)),
    pull(body) {
      sent += content.length
      if (sent > most) throw new Error('it breaks off')
      body.enqueue(content)
    },
  })
}

describe('a body that is too much', () => {
  it('a file of any length is refused once the cap is passed, and nothing of it is kept', async () => {
    const { send, keys } = album()
    const block = new Uint8Array(64 * 1024).fill(1)
    block.set(png)
    // What it takes in memory: test/faults/uploads/memory.stress.test.ts, where a server has a process of its own.
    const body = endless(fileHead('image'), block, 12 * MIB)
    const refused = await send('POST', '/photos', { body, headers: rawHeaders })
    expect(shown(refused)).toEqual(refusal('File too large'))
    expect(await keys()).toEqual([])
  })

  it('a file of exactly the cap is taken, one byte more is not', async () => {
    const exact = new Uint8Array(5000)
    exact.set(png)
    const more = new Uint8Array(5001)
    more.set(png)
    const served = album({ upload: { maxFileSize: 5000 } })
    expect(
      (await served.upload('POST', '/photos', form({ title: 'a', image: exact }))).status,
    ).toBe(201)
    expect(
      shown(await served.upload('POST', '/photos', form({ title: 'b', image: more }))),
    ).toEqual(refusal('File too large'))
  })

  it('more files than maxFiles', async () => {
    const files = Array.from({ length: 11 }, () => ({ headers: fileHead('others'), content: png }))
    const fields = [{ name: 'others', maxCount: 20 }]
    expect(shown(await send([title, ...files], { fields }))).toEqual(refusal('Too many files'))
    expect((await send([title, ...files.slice(1)], { fields })).status).toBe(201)
  })

  it('a file for a field that takes none, or more than its maxCount', async () => {
    const unexpected = refusal('Unexpected file field')
    for (const name of ['title', 'nothing', '__proto__', 'constructor', 'image[]', 'toString']) {
      expect(shown(await send([title, { headers: fileHead(name), content: png }]))).toEqual(
        unexpected,
      )
    }
    const twice = [1, 2].map(() => ({ headers: fileHead('image'), content: png }))
    expect(shown(await send([title, ...twice]))).toEqual(unexpected)
  })

  it('a text of any length', async () => {
    const { send } = album()
    const body = endless(textHead('title'), new Uint8Array(64 * 1024).fill(65), 2 * MIB)
    const refused = await send('POST', '/photos', { body, headers: rawHeaders })
    expect(shown(refused)).toEqual(refusal('Field value too long'))
  })

  it('many texts', async () => {
    const texts = Array.from({ length: 10_000 }, () => ({
      headers: textHead('tags'),
      content: 'x',
    }))
    expect(shown(await send([title, ...texts]))).toEqual(refusal('Too many fields'))
    const long = Array.from({ length: 20 }, () => ({
      headers: textHead('tags'),
      content: 'x'.repeat(60_000),
    }))
    expect(shown(await send([title, ...long]))).toEqual(refusal('Field value too long'))
  })

  it('many file inputs that were left empty', async () => {
    const empty = Array.from({ length: 1001 }, () => ({
      headers: fileHead('image', ''),
      content: '',
    }))
    expect(shown(await send([title, ...empty]))).toEqual(refusal('Too many fields'))
    expect((await send([title, ...empty.slice(2)])).status).toBe(201)
  })

  it('what stands before the first part, for ever', async () => {
    const { send } = album({ upload: { maxFileSize: 1000, maxFiles: 1 } })
    const body = endless(fileHead('image'), new Uint8Array(64 * 1024), 4 * MIB)
    const headers = { 'content-type': 'multipart/form-data; boundary=another' }
    expect(shown(await send('POST', '/photos', { body, headers }))).toEqual(
      refusal('Malformed multipart body'),
    )
  })
})

describe('a body that is malformed', () => {
  const malformed = refusal('Malformed multipart body')
  const end = (text: string) => send([title], {}, text)
  const raw = (body: string, contentType = rawHeaders['content-type'] ?? '') =>
    album().send('POST', '/photos', { body, headers: { 'content-type': contentType } })

  it('a missing end, or half of one', async () => {
    expect(shown(await end(''))).toEqual(malformed)
    expect(shown(await end(`--${BOUNDARY}`))).toEqual(malformed)
    expect(shown(await end(`--${BOUNDARY}-`))).toEqual(malformed)
    expect((await end(`--${BOUNDARY}--`)).status).toBe(201)
    expect((await end(`--${BOUNDARY}--\r\nan epilogue --${BOUNDARY}`)).status).toBe(201)
  })

  it('nothing after the end is a part, in whichever pieces it arrives', async () => {
    const photo = { headers: fileHead('image'), content: png }
    const last = `--${BOUNDARY}--\r\n`
    for (const epilogue of [last, `--${BOUNDARY}\r\n${textHead('title')}\r\n\r\ny\r\n${last}`]) {
      for (const pieceSize of [Infinity, 50]) {
        const { send, keys } = album()
        const bytes = rawBody([title, photo], `${last}${epilogue}`)
        const chunks = function* () {
          for (let at = 0; at < bytes.length; at += pieceSize)
            yield bytes.subarray(at, at + pieceSize)
        }
        const answer = await send('POST', '/photos', {
          body: pieces(chunks()),
          headers: rawHeaders,
        })
        expect(answer).toMatchObject({ status: 201, body: { data: { title: 'x' } } })
        expect(await keys()).toHaveLength(1)
      }
    }
  })

  it('headers of 100 KB, broken ones, parts without a name', async () => {
    const headers = [
      `${textHead('title')}\r\nX-Long: ${'x'.repeat(100_000)}`,
      'no header at all',
      'Content-Disposition: form-data',
      'Content-Disposition: form-data; name=""',
      'Content-Disposition: attachment; name="title"',
      'Content-Type: text/plain',
      `${textHead('title')}\r\n${textHead('title')}`,
      `${textHead('title')}\r\nbad\x00name: x`,
    ]
    for (const head of headers) {
      expect(shown(await send([{ headers: head, content: 'x' }])), head.slice(0, 60)).toEqual(
        malformed,
      )
    }
  })

  it('a file name in an encoding that it does not have', async () => {
    for (const name of ["ISO-8859-1''preis%A3.png", "UTF-8''100%.png", "utf-8''%"]) {
      const headers = fileHead('image').replace('\r\n', `; filename*=${name}\r\n`)
      expect(shown(await send([{ headers, content: png }])), name).toEqual(malformed)
    }
  })

  it('not one with empty parameters and tabs in its Content-Type, as RFC 9110 allows', async () => {
    const body = new TextDecoder().decode(rawBody([title]))
    for (const parameters of [
      `; boundary=${BOUNDARY};`,
      `;; boundary="${BOUNDARY}" ; ;\t;charset=utf-8`,
      `;\tboundary=${BOUNDARY}\t; `,
    ]) {
      const answer = await raw(body, `multipart/form-data${parameters}`)
      expect([parameters, answer.status]).toEqual([parameters, 201])
    }
    expect(shown(await raw(body, `multipart/form-data; boundary=${BOUNDARY}; x`))).toEqual(
      malformed,
    )
  })

  it('no boundary, an empty body, text that is no UTF-8, a Content-Encoding', async () => {
    expect(shown(await raw('x', 'multipart/form-data'))).toEqual(malformed)
    expect(shown(await raw('x', 'multipart/form-data; boundary='))).toEqual(malformed)
    expect(shown(await raw(''))).toEqual(malformed)
    const latin1 = { headers: textHead('title'), content: new Uint8Array([0x41, 0xe9]) }
    expect(shown(await send([latin1]))).toEqual(malformed)
    const zipped = await album().send('POST', '/photos', {
      body: rawBody([title]),
      headers: { ...rawHeaders, 'content-encoding': 'gzip' },
    })
    expect(zipped.status).toBe(415)
  })

  it('a body that breaks off is a 400, and nothing of it stays', async () => {
    const { send, keys } = album()
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1
        if (sent === 1)
          controller.enqueue(rawBody([{ headers: fileHead('image'), content: png }], ''))
        else controller.error(new Error('connection reset'))
      },
    })
    expect(shown(await send('POST', '/photos', { body, headers: rawHeaders }))).toEqual(malformed)
    expect(await keys()).toEqual([])
  })
})

describe('a body that is well-formed', () => {
  it('means the same however it is cut', async () => {
    const { app, keys } = album()
    const parts: RawPart[] = [
      { headers: textHead('title'), content: `--${BOUNDARY.slice(0, 5)}\r\n-` },
      { headers: fileHead('image', '日本語 "x" ß.png'), content: png },
      { headers: textHead('tags'), content: '' },
      { headers: textHead('tags'), content: '\r\n--\r\n' },
    ]
    const whole = rawBody(parts)
    const collection = (await import('./album.ts')).Photo
    for (let at = 1; at < whole.length; at += 1) {
      const body = pieces([whole.subarray(0, at), whole.subarray(at)])
      const init = { method: 'POST', body, headers: rawHeaders, duplex: 'half' }
      const response = await app.handle(new Request('http://localhost/photos', init as RequestInit))
      const { data } = (await response.json()) as {
        data?: { _id: string; title: string; tags: string[] }
      }
      expect(data, `cut at ${at}`).toMatchObject({
        title: `--${BOUNDARY.slice(0, 5)}\r\n-`,
        tags: ['', '\r\n--\r\n'],
      })
      await app.store.collection(collection).delete(data?._id ?? '')
    }
    expect(await keys()).toHaveLength(whole.length - 1)
  })

  it('may come byte by byte', async () => {
    const { send } = album()
    const whole = rawBody([title, { headers: fileHead('image'), content: png }])
    const body = pieces(Array.from(whole, (byte) => new Uint8Array([byte])))
    expect((await send('POST', '/photos', { body, headers: rawHeaders })).status).toBe(201)
  })

  it('may come in pieces of any size, however large the file is', async () => {
    const large = new Uint8Array(3 * MIB).map((_, index) => index % 251)
    // Of an image that is no GIF, nothing is stored that is not drawn.
    large.set(Buffer.from('GIF89a'))
    for (const cut of [1, 10, 60_000, 65_536, 300_000, MIB, large.length]) {
      const { send, files, app } = album({ upload: { acl: 'public-read' } })
      const whole = rawBody([title, { headers: fileHead('image'), content: large }])
      const start = whole.length - large.length - 40
      const body = pieces([whole.subarray(0, start + cut), whole.subarray(start + cut)])
      const made = await send('POST', '/photos', { body, headers: rawHeaders })
      expect(made.status, `cut at ${cut}`).toBe(201)
      const url = files.urlOf(files.keyOf(String(made.record.image)) ?? '')
      const stored = await app.handle(new Request(`http://localhost${url}`))
      expect(Buffer.compare(new Uint8Array(await stored.arrayBuffer()), large)).toBe(0)
    }
  })

  it('may leave a file input empty', async () => {
    const empty = { headers: fileHead('image', ''), content: '' }
    const made = await send([title, empty])
    expect(made.status).toBe(201)
    expect(made.record.image).toBeUndefined()
  })
})

it('mutated bodies are answered, never with a 5xx', async () => {
  const { app, keys } = album({ upload: { maxFileSize: 2000 } })
  const whole = rawBody([
    title,
    { headers: fileHead('image'), content: png },
    { headers: textHead('place[city]'), content: 'Bergen' },
    { headers: fileHead('others'), content: png },
  ])
  const count = runs(100)
  const mutation = fc.record({
    at: fc.nat(whole.length - 1),
    drop: fc.nat(40),
    insert: fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      fc
        .constantFrom('\r\n', '--', `--${BOUNDARY}`, '"', ';', '\0', ': ', 'filename=')
        .map((text) => Buffer.from(text)),
    ),
  })
  const mutations = fc.array(mutation, { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(mutations, fc.nat(whole.length), async (changes, cut) => {
      let bytes = Buffer.from(whole)
      for (const { at, drop, insert } of changes) {
        bytes = Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + drop)])
      }
      const body = pieces([bytes.subarray(0, cut), bytes.subarray(cut)])
      const init = { method: 'POST', body, headers: rawHeaders, duplex: 'half' }
      const { status } = await app.handle(
        new Request('http://localhost/photos', init as RequestInit),
      )
      expect([201, 400, 409]).toContain(status)
    }),
    { ...seeded, numRuns: count },
  )
  expect((await keys()).length).toBeLessThan(count * 2)
}, 300_000)
