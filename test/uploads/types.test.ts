/**
 * What a file is: told from its bytes, whatever its name and its sender say (answers, Uploads).
 */

import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { sniff } from '../../src/uploads/sniff.ts'
import { cat } from '../contract/images/photos.ts'
import { processorClock } from '../limits/processor-time.ts'
import { album, fileHead, rawBody, rawHeaders, textHead } from './album.ts'
import { png } from './png.ts'

const title = { headers: textHead('title'), content: 'x' }
const text = (content: string) => new Uint8Array(Buffer.from(content, 'latin1'))
const together = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts))

const pdf = text('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n')
const gif = text('GIF89a\x01\x00\x01\x00\x00\x00\x00;')
const square = sharp({ create: { width: 8, height: 8, channels: 3, background: 'teal' } })

const everything = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'application/pdf',
  'image/svg+xml',
  'text/html',
  'application/xml',
]

/** Uploads one file, and gives the answer and the stored object as it is served to everybody. */
async function store(content: Uint8Array, head = fileHead('image'), allowedMimeTypes?: string[]) {
  const { send } = album({
    upload: { acl: 'public-read', ...(allowedMimeTypes && { allowedMimeTypes }) },
  })
  const body = rawBody([title, { headers: head, content }])
  const made = await send('POST', '/photos', { body, headers: rawHeaders })
  const url = made.record?.image as string | undefined
  return { made, url, served: url ? await send('GET', url) : undefined }
}

describe('a stored file', () => {
  it('has the type and extension of its bytes', async () => {
    const files: [string, string, Uint8Array][] = [
      ['image/jpeg', 'jpg', cat.bytes],
      ['image/png', 'png', png],
      ['image/gif', 'gif', gif],
      ['image/webp', 'webp', new Uint8Array(await square.clone().webp().toBuffer())],
      ['image/avif', 'avif', new Uint8Array(await square.clone().avif().toBuffer())],
      ['application/pdf', 'pdf', pdf],
    ]
    for (const [type, extension, bytes] of files) {
      const { url, served } = await store(bytes, fileHead('image', 'photo.exe'))
      expect(url).toMatch(new RegExp(`\\.${extension}$`))
      expect(served?.headers.get('content-type')).toBe(type)
      const inline = type === 'application/pdf' ? 'attachment' : 'inline'
      expect(served?.headers.get('content-disposition')).toBe(inline)
    }
  })

  it('that is two things at once is stored as what its first bytes are, and run by no browser', async () => {
    const script = text('<html><script>alert(1)</script></html>')
    const lying = `Content-Disposition: form-data; name="image"; filename="a.html"\r\nContent-Type: image/png, text/html`
    for (const [bytes, type] of [
      [together(gif, script), 'image/gif'],
      [together(pdf, script), 'application/pdf'],
      [together(png, script), 'image/png'],
    ] as const) {
      const { url, served } = await store(bytes, lying)
      expect(url).toMatch(/\/files\/\d+-[0-9a-f]{32}\.(?:gif|pdf|png)$/)
      expect(served?.headers.get('content-type')).toBe(type)
      expect(served?.headers.get('x-content-type-options')).toBe('nosniff')
      expect(served?.headers.get('content-security-policy')).toContain('sandbox')
    }
  })

  it('is named by the server alone', async () => {
    const names = [
      '../../x',
      '..%2fx',
      'a\\b',
      'a%00.png',
      'x\u202egnp.exe',
      'a.html',
      `${'a'.repeat(5000)}.png`,
    ]
    for (const name of names) {
      const { url, made } = await store(png, fileHead('image', name))
      expect(made.status, name).toBe(201)
      expect(url).toMatch(/^\/uploads\/files\/\d{13}-[0-9a-f]{32}\.png$/)
    }
    for (const head of [fileHead('image', 'a\0b.png'), fileHead('image', 'a\r\nX-Injected: yes')]) {
      expect([201, 400]).toContain((await store(png, head)).made.status)
    }
  })
})

describe('markup', () => {
  const markup: [string, string][] = [
    ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    [
      'image/svg+xml',
      '\xef\xbb\xbf <?xml version="1.0"?>\n<!-- a -->\n<!DOCTYPE svg [<!ENTITY x "y">]><svg/>',
    ],
    ['image/svg+xml', '<!-- <html> --><s:svg xmlns:s="http://www.w3.org/2000/svg"/>'],
    ['text/html', '<!doctype html><p>hello'],
    ['text/html', '\n\t <HTML><body>'],
    ['text/html', '<script>alert(1)</script>'],
    ['text/html', '<!-- x --><img src=x onerror=alert(1)>'],
    ['application/xml', '<?xml version="1.0"?><note/>'],
  ]

  it('is refused unless it is allowed, whatever it calls itself', async () => {
    for (const [type, content] of markup) {
      const { made } = await store(text(content), fileHead('image', 'a.png'))
      expect([made.status, made.body.error], content).toEqual([
        400,
        `File type '${type}' is not allowed.`,
      ])
    }
    const utf16 = new Uint8Array(Buffer.from('\ufeff<svg xmlns="x"/>', 'utf16le'))
    expect((await store(utf16)).made.body.error).toBe(`File type 'image/svg+xml' is not allowed.`)
  })

  it('is never inline, even when it is allowed', async () => {
    for (const [type, content] of markup) {
      const { served } = await store(text(content), fileHead('image'), everything)
      expect(served?.headers.get('content-type')).toBe(type)
      expect(served?.headers.get('content-disposition')).toBe('attachment')
    }
  })
})

describe('a file that nobody knows', () => {
  it('is refused by the name of its field', async () => {
    const unknown: Uint8Array[] = [
      new Uint8Array(),
      text('x'),
      text('plain text'),
      text('\x89PN'),
      together(text(' '.repeat(1024)), pdf),
      new Uint8Array(3000).fill(1),
    ]
    for (const bytes of unknown) {
      const { made } = await store(bytes)
      expect([made.status, made.body.error]).toEqual([
        400,
        `Unsupported or unrecognised file type for 'image'.`,
      ])
    }
  })

  it('of another type than the allowed ones is named by its type', async () => {
    const { made } = await store(cat.bytes, fileHead('image'), ['image/png'])
    expect([made.status, made.body.error]).toEqual([400, `File type 'image/jpeg' is not allowed.`])
    const zip = text('PK\x03\x04\x14\x00\x00\x00\x08\x00')
    expect((await store(together(zip, new Uint8Array(60)))).made.status).toBe(400)
  })

  it('is told in no time, whatever its edges are', async () => {
    await sniff(png)
    const riff = (length: number) =>
      together(text('RIFF'), new Uint8Array(new Uint32Array([length]).buffer), text('WEBPVP8 '))
    const brand = (name: string) =>
      together(new Uint8Array([0, 0, 0, 32]), text(`ftyp${name}`), new Uint8Array(20))
    const edges: [Uint8Array, string | undefined][] = [
      [new Uint8Array(), undefined],
      [new Uint8Array([0]), undefined],
      ...Array.from({ length: 4 }, (_, cut): [Uint8Array, undefined] => [
        png.subarray(0, cut),
        undefined,
      ]),
      [riff(0), 'image/webp'],
      [riff(0xffffffff), 'image/webp'],
      [brand('avif'), 'image/avif'],
      [brand('heic'), 'image/heic'],
      [brand('\0\0\0\0'), undefined],
      [text('<'), undefined],
      [text(`<?xml ${'?'.repeat(60_000)}`), 'text/html'],
      [text('<!--'.repeat(15_000)), 'text/html'],
      [text(`<!doctype ${'['.repeat(60_000)}`), 'text/html'],
      [text('PK\x03\x04'.repeat(15_000)), 'application/zip'],
      [text('\x1f\x8b\x08'.repeat(20_000)), 'application/gzip'],
    ]
    for (const [bytes, type] of edges) {
      const times: number[] = []
      let found: Awaited<ReturnType<typeof sniff>>
      for (let round = 0; round < 3; round += 1) {
        const passed = processorClock()
        found = await sniff(bytes)
        times.push(passed())
      }
      expect(Math.min(...times)).toBeLessThan(10)
      expect(found?.mime, text(Buffer.from(bytes.subarray(0, 20)).toString('latin1')).join()).toBe(
        type,
      )
    }
  })
})
