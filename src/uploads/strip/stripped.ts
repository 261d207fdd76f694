/**
 * Removes from images what their makers did not mean to share: places, times, names, thumbnails of what was cropped.
 *
 * Nothing is decoded, so no pixel changes. Colour profiles and the orientation stay. No package that does this runs on
 * every runtime, takes a stream and keeps the orientation (exif-be-gone 1.5 uses Node's streams).
 */

import { nextTurn } from '../../ports/promises/turns.ts'
import { jpegSteps } from './jpeg.ts'
import { pngSteps } from './png.ts'
import { type Steps, Walk } from './walk.ts'
import { type WebpFacts, webpSteps } from './webp.ts'

/** Bytes that can be read from the start, more than once. */
export interface Source {
  readonly size: number
  stream(): ReadableStream<Uint8Array>
}

/** By media type: makes the steps of a walk. The first walk notes facts that the second one needs. */
const FORMATS: Readonly<Record<string, (facts: WebpFacts) => Steps>> = {
  'image/jpeg': jpegSteps,
  'image/png': pngSteps,
  'image/apng': pngSteps,
  'image/webp': webpSteps,
}

const BLOCK = 64 * 1024
/** Milliseconds after which other requests get their turn. */
const PATIENCE_MS = 8

/**
 * `source` without metadata if `mime` is JPEG, PNG or WebP; `source` itself for other types, or if it has none. A file
 * that cannot be read to its end as its type loses the metadata found up to there.
 */
export async function stripped(source: Source, mime: string): Promise<Source> {
  const steps = Object.hasOwn(FORMATS, mime) ? FORMATS[mime] : undefined
  if (!steps) return source
  const facts: WebpFacts = {}
  const first = new Walk(steps(facts), () => {})
  for await (const chunk of inTurns(source.stream())) first.write(chunk)
  first.end()
  if (!first.changed) return source
  const { size } = first
  return { size, stream: () => streamOf(walked(source, steps({ ...facts, size }))) }
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

/** A stream of `blocks`. Nothing is read before the first pull. */
export function streamOf(
  blocks: Iterator<Uint8Array, void> | AsyncIterator<Uint8Array, void>,
): ReadableStream<Uint8Array> {
  const pulled: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      const { done, value } = await blocks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await blocks.return?.()
    },
  }
  return new ReadableStream(pulled, { highWaterMark: 0 })
}

/** The bytes that a walk keeps. */
async function* walked(source: Source, steps: Steps): AsyncGenerator<Uint8Array, void> {
  const kept = blocks()
  const walk = new Walk(steps, kept.add)
  for await (const chunk of inTurns(source.stream())) {
    walk.write(chunk)
    yield* kept.taken(false)
  }
  walk.end()
  yield* kept.taken(true)
}

/** Bytes in blocks of one size: what is kept of an image may be a few bytes here and there. */
function blocks() {
  let full: Uint8Array[] = []
  let block = new Uint8Array(BLOCK)
  let filled = 0
  return {
    add(bytes: Uint8Array): void {
      for (let from = 0; from < bytes.length; ) {
        const part = bytes.subarray(from, from + BLOCK - filled)
        block.set(part, filled)
        filled += part.length
        from += part.length
        if (filled < BLOCK) return
        full.push(block)
        block = new Uint8Array(BLOCK)
        filled = 0
      }
    },
    /** Takes the full blocks, and at the end the rest. */
    taken(isLast: boolean): Uint8Array[] {
      const taken = isLast && filled > 0 ? [...full, block.subarray(0, filled)] : full
      full = []
      return taken
    },
  }
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
