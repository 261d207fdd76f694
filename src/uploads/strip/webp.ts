/** Removes metadata from WebP (RFC 9649): keeps the chunks that an image is drawn from, and writes a header to match. */

import { joined } from '../../ports/values/bytes.ts'
import { exifOf, MAX_EXIF_BYTES, orientationIn } from './orientation.ts'
import { drop, keep, numbersIn, put, read, type Steps } from './walk.ts'

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

export function* webpSteps(facts: WebpFacts): Steps {
  const riff = yield* read(RIFF_SIZE)
  let left = riff.length === RIFF_SIZE ? numbersIn(riff).getUint32(4, true) - 4 : 0
  if (riff.length === RIFF_SIZE && facts.size !== undefined) {
    numbersIn(riff).setUint32(4, facts.size - HEAD_SIZE, true)
  }
  yield* put(riff)
  const progress: Progress = { drawn: false, hasExif: false, seen: new Set(), frames: 0 }
  if (facts.size === undefined) facts.frames = []
  // A length that leaves no room for an image is wrong; data after the right length is not part of the file.
  while (left > 0 || !progress.drawn) {
    const head = yield* read(HEAD_SIZE)
    if (head.length < HEAD_SIZE) return yield* put(head)
    const size = numbersIn(head).getUint32(4, true)
    const padded = size + (size % 2)
    left -= HEAD_SIZE + padded
    yield* chunk(head, padded, progress, facts)
  }
}

interface Progress {
  drawn: boolean
  /** Whether the header announces EXIF data that has not come yet. */
  hasExif: boolean
  readonly seen: Set<string>
  frames: number
}

function* chunk(head: Uint8Array, size: number, progress: Progress, facts: WebpFacts): Steps {
  const type = typeOf(head)
  const isAgain = progress.seen.has(type) && type !== 'ANMF' && type !== 'EXIF'
  progress.seen.add(type)
  const isDrawn = isAgain ? undefined : DRAWN.get(type)
  if (isAgain) yield* drop(size)
  else if (type === 'VP8X') progress.hasExif = yield* features(head, size, facts)
  else if (type === 'EXIF') {
    yield* orientationAlone(size, progress.hasExif, facts)
    progress.hasExif = false
  } else if (type === 'ANMF') yield* frame(head, size, progress, facts)
  else if (isDrawn === undefined) yield* drop(size)
  else yield* exactly(head, size, SIZES[type] ?? size)
  progress.drawn ||= isDrawn === true
}

function typeOf(head: Uint8Array): string {
  return String.fromCharCode(...head.subarray(0, 4))
}

/** A chunk, of which at most `most` bytes stay. */
function* exactly(head: Uint8Array, size: number, most: number): Steps {
  if (size <= most) return yield* keep(size, head)
  yield* keep(most, headOf(head, most))
  yield* drop(size - most)
}

function headOf(head: Uint8Array, size: number): Uint8Array {
  const changed = head.slice()
  numbersIn(changed).setUint32(4, size, true)
  return changed
}

/** A frame of an animation: the chunks in it that are drawn. */
function* frame(head: Uint8Array, size: number, progress: Progress, facts: WebpFacts): Steps {
  if (size <= FRAME_HEAD) return yield* keep(size, head)
  const at = progress.frames
  progress.frames += 1
  yield* put(headOf(head, facts.size === undefined ? size : (facts.frames?.[at] ?? size)))
  yield* put(yield* read(FRAME_HEAD))
  let kept = FRAME_HEAD
  for (let left = size - FRAME_HEAD; left > 0; ) {
    const inner = yield* read(Math.min(left, HEAD_SIZE))
    if (inner.length < HEAD_SIZE) break
    const own = numbersIn(inner).getUint32(4, true)
    const padded = Math.min(own + (own % 2), left - HEAD_SIZE)
    left -= HEAD_SIZE + padded
    if (!IN_FRAME.has(typeOf(inner))) yield* drop(padded)
    else {
      kept += HEAD_SIZE + padded
      yield* keep(padded, inner)
    }
  }
  if (facts.size === undefined) facts.frames?.push(kept)
}

/** The chunks that a frame is drawn from. */
const IN_FRAME: ReadonlySet<string> = new Set(['ALPH', 'VP8 ', 'VP8L'])

/** The header of an extended file; returns whether it announces EXIF data. */
function* features(head: Uint8Array, size: number, facts: WebpFacts): Steps<boolean> {
  const flags = yield* read(Math.min(size, 1))
  const before = flags[0] ?? 0
  const gone = facts.orientation === undefined ? XMP_FLAG | EXIF_FLAG : XMP_FLAG
  if (facts.size !== undefined) flags[0] = before & ~gone
  const most = SIZES.VP8X ?? size
  const rest = Math.min(size, most) - flags.length
  yield* keep(rest, joined([size > most ? headOf(head, most) : head, flags]))
  yield* drop(Math.max(0, size - most))
  return (before & EXIF_FLAG) !== 0
}

/** Replaces the first EXIF data with its orientation, if the header announced it. */
function* orientationAlone(size: number, hasExif: boolean, facts: WebpFacts): Steps {
  const exif = yield* read(Math.min(size, MAX_EXIF_BYTES))
  yield* drop(size - exif.length)
  const orientation = hasExif ? orientationIn(exif) : undefined
  if (orientation === undefined) return
  facts.orientation = orientation
  const data = exifOf(orientation)
  const head = new TextEncoder().encode('EXIF\0\0\0\0')
  numbersIn(head).setUint32(4, data.length, true)
  yield* put(joined([head, data]))
}
