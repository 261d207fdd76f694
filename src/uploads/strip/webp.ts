/** Removes metadata from WebP (RFC 9649): keeps the chunks that an image is drawn from, and writes a header to match. */

import { joined } from '../../ports/values/bytes.ts'
import { exifOf, MAX_EXIF_BYTES, orientationIn } from './orientation.ts'
import { numbersIn, type Pieces, type Walk } from './walk.ts'

const RIFF_SIZE = 12
const HEAD_SIZE = 8
const XMP_FLAG = 0x04
const EXIF_FLAG = 0x08

/** The chunks that are drawn, and whether the image is complete once one of them has come. */
const DRAWN: ReadonlyMap<string, boolean> = new Map([
  ['VP8 ', true],
  ['VP8L', true],
  ['ANMF', true],
  ['ALPH', false],
  ['ANIM', false],
  ['ICCP', false],
])

/** The chunks of which viewers read a fixed number of bytes. */
const SIZES: Readonly<Record<string, number>> = { VP8X: 10, ANIM: 6 }
/** What comes before the chunks of a frame. */
const FRAME_HEAD = 16

/** What a first walk finds out for the second one, because the header comes before it is known. */
export interface WebpFacts {
  /** Of the whole file, without metadata. */
  size?: number
  orientation?: number | undefined
  /** The sizes of frames, in their order. */
  frames?: number[]
}

export async function* webpPieces(walk: Walk, facts: WebpFacts): Pieces {
  const riff = await walk.read(RIFF_SIZE)
  let left = riff.length === RIFF_SIZE ? numbersIn(riff).getUint32(4, true) - 4 : 0
  if (riff.length === RIFF_SIZE && facts.size !== undefined) {
    numbersIn(riff).setUint32(4, facts.size - HEAD_SIZE, true)
  }
  yield riff
  const progress: Progress = {
    walk,
    facts,
    drawn: false,
    hasExif: false,
    seen: new Set(),
    frames: 0,
  }
  if (facts.size === undefined) facts.frames = []
  // A length that leaves no room for an image is wrong; data after the right length is not part of the file.
  while (left > 0 || !progress.drawn) {
    const head = await walk.read(HEAD_SIZE)
    if (head.length < HEAD_SIZE) return yield head
    const size = numbersIn(head).getUint32(4, true)
    const padded = size + (size % 2)
    left -= HEAD_SIZE + padded
    yield* chunk(head, padded, progress)
  }
}

interface Progress {
  readonly walk: Walk
  readonly facts: WebpFacts
  drawn: boolean
  /** Whether the header announces EXIF data that has not come yet. */
  hasExif: boolean
  readonly seen: Set<string>
  frames: number
}

async function* chunk(head: Uint8Array, size: number, progress: Progress): Pieces {
  const { walk } = progress
  const type = typeOf(head)
  const isAgain = progress.seen.has(type) && type !== 'ANMF' && type !== 'EXIF'
  progress.seen.add(type)
  const isDrawn = isAgain ? undefined : DRAWN.get(type)
  if (isAgain) await walk.drop(size)
  else if (type === 'VP8X') progress.hasExif = yield* features(head, size, progress)
  else if (type === 'EXIF') {
    yield orientationAlone(size, progress)
    progress.hasExif = false
  } else if (type === 'ANMF') yield* frame(head, size, progress)
  else if (isDrawn === undefined) await walk.drop(size)
  else yield* exactly(walk, head, size, SIZES[type] ?? size)
  progress.drawn ||= isDrawn === true
}

function typeOf(head: Uint8Array): string {
  return String.fromCharCode(...head.subarray(0, 4))
}

/** A chunk, of which at most `most` bytes stay. */
async function* exactly(walk: Walk, head: Uint8Array, size: number, most: number): Pieces {
  yield size > most ? headOf(head, most) : head
  yield* walk.keep(Math.min(size, most))
  await walk.drop(size - most)
}

function headOf(head: Uint8Array, size: number): Uint8Array {
  const changed = head.slice()
  numbersIn(changed).setUint32(4, size, true)
  return changed
}

/** A frame of an animation: the chunks in it that are drawn. */
async function* frame(head: Uint8Array, size: number, progress: Progress): Pieces {
  const { walk, facts } = progress
  if (size <= FRAME_HEAD) return yield* exactly(walk, head, size, size)
  const at = progress.frames
  progress.frames += 1
  yield headOf(head, facts.size === undefined ? size : (facts.frames?.[at] ?? size))
  yield walk.read(FRAME_HEAD)
  let kept = FRAME_HEAD
  for (let left = size - FRAME_HEAD; left > 0; ) {
    const inner = await walk.read(Math.min(left, HEAD_SIZE))
    if (inner.length < HEAD_SIZE) break
    const own = numbersIn(inner).getUint32(4, true)
    const padded = Math.min(own + (own % 2), left - HEAD_SIZE)
    left -= HEAD_SIZE + padded
    if (!IN_FRAME.has(typeOf(inner))) await walk.drop(padded)
    else {
      kept += HEAD_SIZE + padded
      yield* exactly(walk, inner, padded, padded)
    }
  }
  if (facts.size === undefined) facts.frames?.push(kept)
}

/** The chunks that a frame is drawn from. */
const IN_FRAME: ReadonlySet<string> = new Set(['ALPH', 'VP8 ', 'VP8L'])

/** The header of an extended file; returns whether it announces EXIF data. */
async function* features(
  head: Uint8Array,
  size: number,
  { walk, facts }: Progress,
): Pieces<boolean> {
  const flags = await walk.read(Math.min(size, 1))
  const before = flags[0] ?? 0
  const gone = facts.orientation === undefined ? XMP_FLAG | EXIF_FLAG : XMP_FLAG
  if (facts.size !== undefined) flags[0] = before & ~gone
  const most = SIZES.VP8X ?? size
  yield size > most ? headOf(head, most) : head
  yield flags
  yield* walk.keep(Math.min(size, most) - flags.length)
  await walk.drop(size - most)
  return (before & EXIF_FLAG) !== 0
}

/** Takes out EXIF data; of the first one, the orientation stays, if the header announced it. */
async function orientationAlone(
  size: number,
  { walk, facts, hasExif }: Progress,
): Promise<Uint8Array> {
  const exif = await walk.read(Math.min(size, MAX_EXIF_BYTES))
  await walk.drop(size - exif.length)
  const orientation = hasExif ? orientationIn(exif) : undefined
  if (orientation === undefined) return new Uint8Array()
  facts.orientation = orientation
  const data = exifOf(orientation)
  const head = new TextEncoder().encode('EXIF\0\0\0\0')
  numbersIn(head).setUint32(4, data.length, true)
  return joined([head, data])
}
