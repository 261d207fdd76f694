/**
 * Removes metadata from WebP (RFC 9649): keeps the chunks that an image is drawn from, and writes a header to match.
 *
 * @module
 */

import { exifOf, MOST_EXIF, orientationIn } from './orientation.ts'
import { drop, joined, keep, numbersIn, put, read, type Steps } from './walk.ts'

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

/** What a first walk finds out for the second one, because the header comes before it is known. */
export interface WebpFacts {
  /** Of the whole file, without metadata. */
  size?: number
  orientation?: number | undefined
}

/** The steps through a WebP image. */
export function* webpSteps(facts: WebpFacts): Steps {
  const riff = yield* read(RIFF_SIZE)
  let left = riff.length === RIFF_SIZE ? numbersIn(riff).getUint32(4, true) - 4 : 0
  if (riff.length === RIFF_SIZE && facts.size !== undefined) {
    numbersIn(riff).setUint32(4, facts.size - HEAD_SIZE, true)
  }
  yield* put(riff)
  const progress: Progress = { drawn: false, hasExif: false }
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

/** How far a walk through an image has come. */
interface Progress {
  drawn: boolean
  /** Whether the header announces EXIF data that has not come yet. */
  hasExif: boolean
}

function* chunk(head: Uint8Array, size: number, progress: Progress, facts: WebpFacts): Steps {
  const type = String.fromCharCode(...head.subarray(0, 4))
  const isDrawn = DRAWN.get(type)
  if (type === 'VP8X') progress.hasExif = yield* features(head, size, facts)
  else if (type === 'EXIF') {
    yield* orientationAlone(size, progress.hasExif, facts)
    progress.hasExif = false
  } else if (isDrawn === undefined) yield* drop(size)
  else yield* keep(size, head)
  progress.drawn ||= isDrawn === true
}

/** The header of an extended file; returns whether it announces EXIF data. */
function* features(head: Uint8Array, size: number, facts: WebpFacts): Steps<boolean> {
  const flags = yield* read(Math.min(size, 1))
  const before = flags[0] ?? 0
  const gone = facts.orientation === undefined ? XMP_FLAG | EXIF_FLAG : XMP_FLAG
  if (facts.size !== undefined) flags[0] = before & ~gone
  yield* keep(size - flags.length, joined(head, flags))
  return (before & EXIF_FLAG) !== 0
}

/** Replaces the first EXIF data with its orientation, if the header announced it. */
function* orientationAlone(size: number, hasExif: boolean, facts: WebpFacts): Steps {
  const exif = yield* read(Math.min(size, MOST_EXIF))
  yield* drop(size - exif.length)
  const orientation = hasExif ? orientationIn(exif) : undefined
  if (orientation === undefined) return
  facts.orientation = orientation
  const data = exifOf(orientation)
  const head = new TextEncoder().encode('EXIF\0\0\0\0')
  numbersIn(head).setUint32(4, data.length, true)
  yield* put(joined(head, data))
}
