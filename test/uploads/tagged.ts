/**
 * Images with metadata of every kind in them, each with a word that must not be stored.
 *
 * @module
 */

import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { cat } from '../contract/images/photos.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** The formats that are stripped. */
export type Format = 'jpeg' | 'png' | 'webp'

/** What stands in every piece of metadata, and nowhere else. */
export const SECRET = 'HERE-LIVES-SOMEBODY'

const exif = {
  IFD0: { Copyright: SECRET, Make: SECRET },
  IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '60/1 23/1 30/1', GPSAreaInformation: SECRET },
}

/** A photograph that a camera has told much about, turned by `orientation`, in the colours of P3. */
export async function tagged(format: Format, orientation = 6): Promise<Bytes> {
  const image = sharp(cat.bytes)
    .resize(90, 60, { fit: 'fill' })
    .withIccProfile('p3')
    .withExif(exif)
    .withXmp(xmp)
    .withMetadata({ orientation, icc: 'p3' })
  const bytes = await image[format]().toBuffer()
  if (format === 'jpeg') return taggedJpeg(bytes)
  return format === 'png' ? taggedPng(bytes) : taggedWebp(bytes)
}

const xmp = `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:creator="${SECRET}"/></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`

/** A JPEG segment. */
export function segment(marker: number, content: string | Uint8Array): Buffer {
  const data = Buffer.from(content as string, 'latin1')
  const head = Buffer.from([0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 0xff])
  return Buffer.concat([head, data])
}

/** With every kind of segment after the first, a second image behind the last, and its EXIF data. */
function taggedJpeg(bytes: Buffer): Bytes {
  const more = [
    segment(0xe0, `JFXX\0\x10${SECRET}`),
    segment(0xe1, `http://ns.adobe.com/xmp/extension/\0${SECRET}`),
    segment(0xe2, `MPF\0${SECRET}`),
    segment(0xe5, SECRET),
    segment(0xed, `Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x20${SECRET}`),
    segment(0xee, `Nothing of Adobe's ${SECRET}`),
    segment(0xfe, SECRET),
  ]
  const start = bytes.subarray(0, 2)
  return new Uint8Array(Buffer.concat([start, ...more, bytes.subarray(2), bytes]))
}

/** A PNG chunk. */
export function pngChunk(type: string, content: string | Uint8Array): Buffer {
  const data = Buffer.from(content as string, 'latin1')
  const whole = Buffer.alloc(data.length + 12)
  whole.writeUInt32BE(data.length, 0)
  whole.write(type, 4, 'latin1')
  data.copy(whole, 8)
  whole.writeUInt32BE(crc32(whole.subarray(4, 8 + data.length)), 8 + data.length)
  return whole
}

function taggedPng(bytes: Buffer): Bytes {
  const more = [
    pngChunk('tEXt', `Author\0${SECRET}`),
    pngChunk('zTXt', Buffer.concat([Buffer.from('Raw\0\0'), deflateSync(SECRET)])),
    pngChunk('iTXt', `XML:com.adobe.xmp\0\0\0\0\0${SECRET}`),
    pngChunk('tIME', new Uint8Array([7, 0xe8, 1, 2, 3, 4, 5])),
    pngChunk('caBX', SECRET),
  ]
  // Behind IHDR, and behind IEND.
  const parts = [bytes.subarray(0, 33), ...more, bytes.subarray(33), pngChunk('tEXt', SECRET)]
  return new Uint8Array(Buffer.concat(parts))
}

/** A chunk of WebP. */
export function riffChunk(type: string, content: string | Uint8Array): Buffer {
  const data = Buffer.from(content as string, 'latin1')
  const head = Buffer.alloc(8)
  head.write(type, 'latin1')
  head.writeUInt32LE(data.length, 4)
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)])
}

function taggedWebp(bytes: Buffer): Bytes {
  const content = Buffer.concat([bytes.subarray(12), riffChunk('note', SECRET)])
  const riff = riffChunk('RIFF', Buffer.concat([Buffer.from('WEBP'), content]))
  return new Uint8Array(Buffer.concat([riff, Buffer.from(SECRET)]))
}

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}
