/**
 * Removes metadata from JPEG (ITU T.81, annex B): keeps the segments up to the end of the image that it is drawn from.
 *
 * Unexpected bytes before a marker are skipped as libjpeg does, so that this finds the same segments as a viewer.
 *
 * @module
 */

import { EXIF_NAME, exifOf, orientationIn } from './orientation.ts'
import { drop, joined, keep, numbersIn, put, read, type Steps, seek, startsWith } from './walk.ts'

const SOI = 0xd8
const EOI = 0xd9
const SOS = 0xda
const APP0 = 0xe0
const APP1 = 0xe1
const APP2 = 0xe2
const APP14 = 0xee
const APP15 = 0xef
const COM = 0xfe

/** The application segments that stay, by how they begin: they say how colours are meant. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [APP0, 'JFIF\0'],
  [APP2, 'ICC_PROFILE\0'],
  [APP14, 'Adobe'],
])
/** The bytes of a JFIF segment without a thumbnail, which may show what has been cropped. */
const JFIF_SIZE = 14

/** How far a walk through an image has come. */
interface Progress {
  /** Whether the drawn data has begun. */
  drawn: boolean
  /** Whether the orientation has been looked for. */
  oriented: boolean
}

/** The steps through a JPEG image. */
export function* jpegSteps(): Steps {
  yield* put(yield* read(2))
  const progress: Progress = { drawn: false, oriented: false }
  for (;;) {
    const marker = yield* seek(progress.drawn)
    const code = marker[1]
    if (code === undefined) return
    if (code === SOI || code === EOI) yield* put(marker)
    else yield* segment(marker, code, progress)
    // What follows are other images, with metadata of their own, or a film.
    if (code === EOI) return
  }
}

function* segment(marker: Uint8Array, code: number, progress: Progress): Steps {
  const length = yield* read(2)
  const size = length.length === 2 ? Math.max(0, numbersIn(length).getUint16(0) - 2) : 0
  const head = joined(marker, length)
  const isApp = (code >= APP0 && code <= APP15) || code === COM
  if (!isApp) yield* keep(size, head)
  else if (code === APP1 && !progress.oriented && !progress.drawn) {
    progress.oriented = yield* orientationAlone(size)
  } else yield* appSegment(head, size)
  progress.drawn ||= code === SOS
}

/** Replaces EXIF data with its orientation; returns whether there was any. */
function* orientationAlone(size: number): Steps<boolean> {
  const exif = yield* read(size)
  if (!startsWith(exif, EXIF_NAME)) return false
  const orientation = orientationIn(exif)
  if (orientation !== undefined) {
    const data = joined(new TextEncoder().encode(EXIF_NAME), exifOf(orientation))
    yield* put(joined(Uint8Array.of(0xff, APP1, 0, data.length + 2), data))
  }
  return true
}

/** An application segment or a comment: kept if the colours depend on it. */
function* appSegment(head: Uint8Array, size: number): Steps {
  const code = head[1] ?? 0
  const name = NAMES.get(code)
  const count = code === APP0 ? JFIF_SIZE : (name?.length ?? 0)
  const start = yield* read(Math.min(size, count))
  const rest = size - start.length
  if (name === undefined || !startsWith(start, name)) yield* drop(rest)
  else if (code === APP0 && rest > 0) {
    start.fill(0, JFIF_SIZE - 2)
    yield* put(joined(Uint8Array.of(0xff, APP0, 0, JFIF_SIZE + 2), start))
    yield* drop(rest)
  } else yield* keep(rest, joined(head, start))
}
