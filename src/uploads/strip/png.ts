/** Removes metadata from PNG (third edition): keeps the chunks up to IEND that are drawn, each as long as it can be. */

import { joined } from '../../ports/values/bytes.ts'
import { exifOf, MAX_EXIF_BYTES, orientationIn } from './orientation.ts'
import { numbersIn, type Pieces, type Walk } from './walk.ts'

const SIGNATURE_SIZE = 8
const HEAD_SIZE = 8
const CRC_SIZE = 4

/** What the header says of the colours: 0 grey, 2 RGB, 3 a palette, 4 grey with alpha, 6 RGB with alpha. */
type Colours = number | undefined

/** The bytes of chunks that are drawn from, by their type: one number, or one for each kind of colours. */
const SIZES: Readonly<Record<string, number | Readonly<Record<number, number>>>> = {
  ...{ IHDR: 13, IEND: 0, gAMA: 4, cHRM: 32, sRGB: 1, cICP: 4, mDCV: 24, cLLI: 8 },
  ...{ pHYs: 9, acTL: 8, fcTL: 26 },
  tRNS: { 0: 2, 2: 6 },
  sBIT: { 0: 1, 2: 3, 3: 3, 4: 2, 6: 4 },
  bKGD: { 0: 2, 2: 6, 3: 1, 4: 2, 6: 6 },
}
/** The same of chunks of any length up to a number. */
const MAX_CHUNK_BYTES: Readonly<Record<string, number | Readonly<Record<number, number>>>> = {
  ...{ IDAT: Number.POSITIVE_INFINITY, fdAT: Number.POSITIVE_INFINITY },
  iCCP: Number.POSITIVE_INFINITY,
  PLTE: { 2: 768, 3: 768, 6: 768 },
  tRNS: { 3: 256 },
}
/** Chunks that an image has more than once. */
const REPEATED: ReadonlySet<string> = new Set(['IDAT', 'fdAT', 'fcTL'])

interface Progress {
  readonly walk: Walk
  colours: Colours
  readonly seen: Set<string>
}

export async function* pngPieces(walk: Walk): Pieces {
  yield walk.read(SIGNATURE_SIZE)
  const progress: Progress = { walk, colours: undefined, seen: new Set() }
  for (let type = ''; type !== 'IEND'; ) {
    const head = await walk.read(HEAD_SIZE)
    type = String.fromCharCode(...head.subarray(4))
    const size = head.length === HEAD_SIZE ? numbersIn(head).getUint32(0) : 0
    // No viewer reads on from here.
    if (!/^[A-Za-z]{4}$/.test(type)) return
    if (type === 'eXIf') yield orientationAlone(size, progress)
    else if (!isDrawn(type, size, progress)) await walk.drop(size + CRC_SIZE)
    else if (type === 'IHDR') {
      const data = await walk.read(size + CRC_SIZE)
      // What the other chunks can be.
      progress.colours = data[9]
      yield joined([head, data])
    } else {
      yield head
      yield* walk.keep(size + CRC_SIZE)
    }
    progress.seen.add(type)
  }
}

/** Whether a chunk can be one that the image is drawn from: viewers skip others, or refuse the image. */
function isDrawn(type: string, size: number, { colours, seen }: Progress): boolean {
  if (seen.has(type) && !REPEATED.has(type)) return false
  return (
    numberFor(SIZES, type, colours) === size || size <= numberFor(MAX_CHUNK_BYTES, type, colours)
  )
}

function numberFor(numbers: typeof SIZES, type: string, colours: Colours): number {
  const found = Object.hasOwn(numbers, type) ? numbers[type] : undefined
  return (typeof found === 'object' ? found[colours ?? -1] : found) ?? -1
}

/** Takes out EXIF data; of the first one, the orientation stays. */
async function orientationAlone(size: number, { walk, seen }: Progress): Promise<Uint8Array> {
  const exif = await walk.read(Math.min(size, MAX_EXIF_BYTES))
  await walk.drop(size - exif.length + CRC_SIZE)
  const orientation = seen.has('eXIf') ? undefined : orientationIn(exif)
  return orientation === undefined ? new Uint8Array() : chunkOf('eXIf', exifOf(orientation))
}

function chunkOf(type: string, data: Uint8Array): Uint8Array {
  const checked = joined([new TextEncoder().encode(type), data])
  const around = new DataView(new ArrayBuffer(4 + CRC_SIZE))
  around.setUint32(0, data.length)
  around.setUint32(4, crc32(checked))
  const bytes = new Uint8Array(around.buffer)
  return joined([bytes.subarray(0, 4), checked, bytes.subarray(4)])
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
