/**
 * Removes metadata from PNG (PNG specification, third edition): keeps the chunks up to IEND that an image is drawn
 * from.
 *
 * @module
 */

import { exifOf, MOST_EXIF, orientationIn } from './orientation.ts'
import { drop, joined, keep, numbersIn, put, read, type Steps } from './walk.ts'

const SIGNATURE_SIZE = 8
const HEAD_SIZE = 8
const CRC_SIZE = 4

/** The ancillary chunks that pixels, colours, sizes and frames depend on. */
const DRAWN: ReadonlySet<string> = new Set(
  'tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD pHYs acTL fcTL fdAT'.split(' '),
)

/** The steps through a PNG image. */
export function* pngSteps(): Steps {
  yield* put(yield* read(SIGNATURE_SIZE))
  let oriented = false
  for (let type = ''; type !== 'IEND'; ) {
    const head = yield* read(HEAD_SIZE)
    type = String.fromCharCode(...head.subarray(4))
    const size = head.length === HEAD_SIZE ? numbersIn(head).getUint32(0) : 0
    // No viewer reads on from here, so there is no telling what it is: keep it.
    if (!/^[A-Za-z]{4}$/.test(type)) return yield* keep(Number.POSITIVE_INFINITY, head)
    if (type === 'eXIf') {
      yield* orientationAlone(size, oriented)
      oriented = true
    } else if (isDrawn(type)) yield* keep(size + CRC_SIZE, head)
    else yield* drop(size + CRC_SIZE)
  }
}

/** Critical chunks have a capital first letter. */
function isDrawn(type: string): boolean {
  return type < 'a' || DRAWN.has(type)
}

/** Replaces the first EXIF data with its orientation. */
function* orientationAlone(size: number, oriented: boolean): Steps {
  const exif = yield* read(Math.min(size, MOST_EXIF))
  yield* drop(size - exif.length + CRC_SIZE)
  const orientation = oriented ? undefined : orientationIn(exif)
  if (orientation !== undefined) yield* put(chunkOf('eXIf', exifOf(orientation)))
}

function chunkOf(type: string, data: Uint8Array): Uint8Array {
  const checked = joined(new TextEncoder().encode(type), data)
  const around = new DataView(new ArrayBuffer(4 + CRC_SIZE))
  around.setUint32(0, data.length)
  around.setUint32(4, crc32(checked))
  const bytes = new Uint8Array(around.buffer)
  return joined(bytes.subarray(0, 4), checked, bytes.subarray(4))
}

/** The cyclic redundancy check of annex D; fast enough for a few bytes. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}
