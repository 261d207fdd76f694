/**
 * Removes metadata from JPEG (ITU T.81, annex B): keeps the segments up to the end of the image that it is drawn from, as
 * long as each can be. Viewers skip all others, and refuse longer ones, so whatever else is in them is not drawn.
 *
 * Unexpected bytes before a marker are skipped as libjpeg does, so that this finds the same segments as a viewer.
 */

import { joined } from '../../ports/values/bytes.ts'
import { EXIF_NAME, exifOf, orientationIn } from './orientation.ts'
import { numbersIn, type Pieces, startsWith, type Walk } from './walk.ts'

const SOI = 0xd8
const EOI = 0xd9
const SOS = 0xda
const APP0 = 0xe0
const APP1 = 0xe1
const APP2 = 0xe2
const APP14 = 0xee
/** The number of lines, which may come after the first scan alone. */
const DNL = 0xdc

/** The bytes of a JFIF segment without a thumbnail, which may show what has been cropped. */
const JFIF_SIZE = 14
/** The bytes of Adobe's segment, which says how colours are transformed. */
const ADOBE_SIZE = 12
const ICC_NAME = 'ICC_PROFILE\0'
/** What comes before a part of a colour profile: its name, its number and how many there are. */
const ICC_HEAD = ICC_NAME.length + 2

interface Progress {
  readonly walk: Walk
  /** Whether the drawn data has begun. */
  drawn: boolean
  /** Whether drawn data comes next. */
  drawing: boolean
  /** Whether the orientation has been looked for. */
  oriented: boolean
  /** The parts of the colour profile so far, and its bytes that are still to come. */
  profile: { parts: number; left: number }
}

export async function* jpegPieces(walk: Walk): Pieces {
  yield walk.read(2)
  const profile = { parts: 0, left: 0 }
  const progress: Progress = { walk, drawn: false, drawing: false, oriented: false, profile }
  for (;;) {
    const marker = yield* walk.seek(progress.drawing)
    progress.drawing = false
    const code = marker[1]
    if (code === undefined) return
    if (code === SOI || code === EOI) yield marker
    else yield segment(marker, code, progress)
    // What follows are other images, with metadata of their own, or a film.
    if (code === EOI) return
  }
}

/** What stays of the segment that comes next. */
async function segment(marker: Uint8Array, code: number, progress: Progress): Promise<Uint8Array> {
  const { walk } = progress
  const length = await walk.read(2)
  const size = length.length === 2 ? Math.max(0, numbersIn(length).getUint16(0) - 2) : 0
  const data = await walk.read(size)
  if (code === APP1 && !progress.oriented && !progress.drawn) {
    progress.oriented = startsWith(data, EXIF_NAME)
    return orientationAlone(data)
  }
  const kept = keptOf(code, data, progress)
  progress.drawing = code === SOS
  progress.drawn ||= progress.drawing
  // Cut off by the end of the file, it stays as it is.
  if (kept?.length === data.length) return joined([marker, length, data])
  return kept ? segmentOf(code, kept) : NOTHING
}

/** What stays of a segment; undefined if nothing does. */
function keptOf(code: number, data: Uint8Array, progress: Progress): Uint8Array | undefined {
  switch (code) {
    case APP0:
      return startsWith(data, 'JFIF\0') ? withoutThumbnail(data) : undefined
    case APP2:
      return startsWith(data, ICC_NAME) ? partOfProfile(data, progress.profile) : undefined
    case APP14:
      return startsWith(data, 'Adobe') ? data.subarray(0, ADOBE_SIZE) : undefined
    case DNL:
      return progress.drawn ? data.subarray(0, 2) : undefined
    default: {
      const size = SIZES.get(code)?.(data)
      return size === undefined ? undefined : data.subarray(0, size)
    }
  }
}

function withoutThumbnail(data: Uint8Array): Uint8Array {
  if (data.length <= JFIF_SIZE) return data
  const kept = data.slice(0, JFIF_SIZE)
  kept.fill(0, JFIF_SIZE - 2)
  return kept
}

/** A part of a colour profile, up to the size that its first bytes tell (ICC.1:2022, 7.2.2). */
function partOfProfile(data: Uint8Array, profile: Progress['profile']): Uint8Array | undefined {
  if (data.length < ICC_HEAD || data[ICC_NAME.length] !== profile.parts + 1) return undefined
  if (profile.parts === 0 && data.length >= ICC_HEAD + 4) {
    profile.left = numbersIn(data).getUint32(ICC_HEAD)
  }
  profile.parts += 1
  const kept = data.subarray(0, ICC_HEAD + profile.left)
  profile.left -= kept.length - ICC_HEAD
  return kept.length > ICC_HEAD ? kept : undefined
}

function segmentOf(code: number, data: Uint8Array): Uint8Array {
  const size = data.length + 2
  return joined([Uint8Array.of(0xff, code, size >> 8, size & 0xff), data])
}

/** EXIF data with the orientation alone. */
function orientationAlone(data: Uint8Array): Uint8Array {
  const orientation = startsWith(data, EXIF_NAME) ? orientationIn(data) : undefined
  if (orientation === undefined) return NOTHING
  return segmentOf(APP1, joined([new TextEncoder().encode(EXIF_NAME), exifOf(orientation)]))
}

const NOTHING = new Uint8Array()

/** How many bytes of a segment are drawn from; fewer may be there. */
type Size = (data: Uint8Array) => number

/** The segments that stay, by their markers. */
const SIZES: ReadonlyMap<number, Size> = new Map<number, Size>([
  ...[0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf].map(
    (frame) => [frame, (data: Uint8Array) => 6 + 3 * (data[5] ?? 0)] as const,
  ),
  [0xc4, (data) => tables(data, huffman)],
  // Arithmetic coding: pairs, at most 16 of each class.
  [0xcc, () => 64],
  [0xda, (data) => 4 + 2 * (data[0] ?? 0)],
  [0xdb, (data) => tables(data, quantization)],
  [0xdd, () => 2],
])

/** The bytes of whole tables, one after the other; `sizeAt` returns NaN where there is none. */
function tables(data: Uint8Array, sizeAt: (data: Uint8Array, at: number) => number): number {
  let at = 0
  while (at < data.length) {
    const end = at + sizeAt(data, at)
    if (!(end <= data.length)) break
    at = end
  }
  return at
}

/** A table of quantization: its precision, its number, and 64 values. */
function quantization(data: Uint8Array, at: number): number {
  const head = data[at] ?? 0
  return (head & 0x0f) < 4 && head < 0x20 ? 1 + 64 * (head < 0x10 ? 1 : 2) : Number.NaN
}

/** A Huffman table: its class, its number, how many codes there are of each length, and their values. */
function huffman(data: Uint8Array, at: number): number {
  const head = data[at] ?? 0
  if ((head & 0x0f) > 3 || head >= 0x20 || at + 17 > data.length) return Number.NaN
  let size = 17
  for (let length = 1; length <= 16; length += 1) size += data[at + length] ?? 0
  return size <= 17 + 256 ? size : Number.NaN
}
