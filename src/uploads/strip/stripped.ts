/**
 * Removes from images what their makers did not mean to share: places, times, names, thumbnails of what was cropped.
 *
 * Nothing is decoded, so no pixel changes. Colour profiles and the orientation stay. No package that does this runs on
 * every runtime, takes a stream and keeps the orientation (exif-be-gone 1.5 uses Node's streams).
 */

import { nextTurn } from '../../ports/promises/turns.ts'
import { streamOf } from '../../ports/values/bytes.ts'
import { jpegPieces } from './jpeg.ts'
import { pngPieces } from './png.ts'
import { type Pieces, Walk } from './walk.ts'
import { type WebpFacts, webpPieces } from './webp.ts'

/** Bytes that can be read from the start, more than once. */
export interface Source {
  readonly size: number
  stream(): ReadableStream<Uint8Array>
}

/** The pieces of an image that stay. The first walk notes facts that the second one needs. */
type Format = (walk: Walk, facts: WebpFacts) => Pieces

const FORMATS: Readonly<Record<string, Format>> = {
  'image/jpeg': jpegPieces,
  'image/png': pngPieces,
  'image/apng': pngPieces,
  'image/webp': webpPieces,
}

const BLOCK = 64 * 1024
/** Milliseconds after which other requests get their turn. */
const PATIENCE_MS = 8

/**
 * `source` without metadata if `mime` is JPEG, PNG or WebP; `source` itself for other types, or if it has none. A file
 * that cannot be read to its end as its type loses the metadata found up to there.
 */
export async function stripped(source: Source, mime: string): Promise<Source> {
  const format = Object.hasOwn(FORMATS, mime) ? FORMATS[mime] : undefined
  if (!format) return source
  const facts: WebpFacts = {}
  let size = 0
  const walk = new Walk(inTurns(source.stream()))
  for await (const piece of walked(walk, format, facts)) size += piece.length
  if (!walk.hasDropped && walk.came === size) return source
  const again = () => walked(new Walk(inTurns(source.stream())), format, { ...facts, size })
  return { size, stream: () => streamOf(inBlocks(again())) }
}

/** The pieces that stay of what `walk` goes through; nothing behind them does. */
async function* walked(walk: Walk, format: Format, facts: WebpFacts): Pieces {
  try {
    yield* format(walk, facts)
    await walk.drop(1)
  } finally {
    await walk.end()
  }
}

export async function strippedBytes(bytes: Uint8Array, mime: string): Promise<Uint8Array> {
  const source: Source = { size: bytes.length, stream: () => streamOf(blocksOf(bytes)) }
  const found = await stripped(source, mime)
  return found === source ? bytes : bytesOf(found)
}

export async function bytesOf(source: Source): Promise<Uint8Array> {
  const whole = new Uint8Array(source.size)
  let at = 0
  for await (const chunk of source.stream()) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

function* blocksOf(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += BLOCK) yield bytes.subarray(at, at + BLOCK)
}

/** Bytes in blocks of one size: what is kept of an image may be a few bytes here and there. */
async function* inBlocks(pieces: Pieces): AsyncGenerator<Uint8Array, void> {
  let block = new Uint8Array(BLOCK)
  let filled = 0
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      const part = piece.subarray(from, from + BLOCK - filled)
      block.set(part, filled)
      filled += part.length
      from += part.length
      if (filled < BLOCK) continue
      yield block
      block = new Uint8Array(BLOCK)
      filled = 0
    }
  }
  if (filled > 0) yield block.subarray(0, filled)
}

/** The chunks of a stream, with pauses: other requests get a turn between bytes that are in memory already. */
async function* inTurns(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let since = performance.now()
  for await (const chunk of stream) {
    yield chunk
    if (performance.now() - since < PATIENCE_MS) continue
    await nextTurn()
    since = performance.now()
  }
}
