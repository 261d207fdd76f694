/** Forms as libraries of other languages write them, byte by byte. */

import { expect, it } from 'vitest'
import { type Album, album } from './album.ts'
import { png } from './png.ts'

/** Sends `parts`, each its headers and its content, with a boundary as `type` has it. */
function send(
  { send }: Album,
  parts: readonly (readonly [string, string | Uint8Array])[],
  boundary = 'x',
  sent = boundary,
) {
  const bytes = parts.flatMap(([headers, content]) => [
    Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`),
    Buffer.from(content as string),
    Buffer.from('\r\n'),
  ])
  const body = new Uint8Array(Buffer.concat([...bytes, Buffer.from(`--${boundary}--\r\n`)]))
  const headers = { 'content-type': `multipart/form-data; boundary=${sent}` }
  return send('POST', '/photos', { body, headers })
}

const text = (headers = '') => `Content-Disposition: form-data; name="title"${headers}`
const latin1 = Buffer.from('Köln', 'latin1')

it("takes .NET's names without quotes, and its boundary in quotes", async () => {
  const image =
    "Content-Disposition: form-data; name=image; filename=a.png; filename*=utf-8''%C3%BC.png"
  const { record } = await send(
    album(),
    [
      [
        'Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=title',
        'Köln',
      ],
      [`Content-Type: image/png\r\n${image}`, png],
    ],
    '0a1b2c3d-1111-2222-3333-444455556666',
    '"0a1b2c3d-1111-2222-3333-444455556666"',
  )
  expect(record).toMatchObject({ title: 'Köln', image: expect.stringMatching(/\.png/) })
})

it('takes a part with the type of a file for one, where the client names no file', async () => {
  const { record } = await send(album(), [
    [text(), 'Delft'],
    ['Content-Disposition: form-data; name=image\r\nContent-Type: image/png', png],
  ])
  expect(record).toMatchObject({ title: 'Delft', image: expect.stringMatching(/\.png/) })
})

it("reads texts of Apache's HttpClient in the charset that they name", async () => {
  const coding = '\r\nContent-Transfer-Encoding: 8bit'
  const type = (charset: string) => `\r\nContent-Type: text/plain; charset=${charset}${coding}`
  const { record } = await send(album(), [[text(type('ISO-8859-1')), latin1]])
  expect(record.title).toBe('Köln')
  const utf16 = await send(album(), [[text(type('utf-16le')), Buffer.from('Köln', 'utf16le')]])
  expect(utf16.record.title).toBe('Köln')
  for (const wrong of ['utf-8', 'us-ascii-7', '""']) {
    const { body } = await send(album(), [[text(type(wrong)), latin1]])
    expect([wrong, body.error]).toEqual([wrong, 'File upload error: Malformed multipart body'])
  }
})

it('takes a boundary with equals signs and no quotes, which many programs in Java send', async () => {
  const { record } = await send(album(), [[text(), 'Delft']], '===1796034349358===')
  expect(record.title).toBe('Delft')
})

it('refuses texts in a transfer coding, instead of keeping the letters of the coding', async () => {
  for (const [coding, content] of [
    ['base64', 'RGVsZnQ='],
    ['quoted-printable', 'K=C3=B6ln'],
  ] as const) {
    const { status, body } = await send(album(), [
      [text(`\r\nContent-Transfer-Encoding: ${coding}`), content],
    ])
    expect([status, body.error]).toEqual([400, 'File upload error: Malformed multipart body'])
  }
  const { record } = await send(album(), [[text('\r\nContent-Transfer-Encoding: Binary'), 'Delft']])
  expect(record.title).toBe('Delft')
})
