/** Image optimisation with the WebAssembly codecs of jSquash: mozjpeg, libwebp and OxiPNG. */

import decodeJpeg, { init as initJpegDecoder } from '@jsquash/jpeg/decode.js'
import encodeJpeg, { init as initJpegEncoder } from '@jsquash/jpeg/encode.js'
import initOxipng, { optimise } from '@jsquash/oxipng/codec/pkg/squoosh_oxipng.js'
import decodeWebp, { init as initWebpDecoder } from '@jsquash/webp/decode.js'
import encodeWebp, { init as initWebpEncoder } from '@jsquash/webp/encode.js'
import { checkOptions, natural } from '../../src/model/option-rules.ts'
import { nextTurn } from '../../src/ports/promises/turns.ts'
import { headerOf } from '../../src/ports/services/image-header.ts'
import {
  type ImageOptimizer,
  type OptimizedType,
  TooManyPixels,
} from '../../src/ports/services/images.ts'
import { startedOnce } from '../../src/ports/values/once.ts'
import {
  bisectQuality,
  type Encode,
  isEmptyish,
  optimizerOf,
  type SizeTarget,
  sampledQuality,
  sizeTarget,
} from './quality.ts'

/** Options of `wasmImages`. */
export interface WasmOptions {
  /**
   * The most pixels of an image to optimise; a larger image is stored as it is. Default: 4 million on Workers, where
   * memory is 128 MB; elsewhere 16 million, which block the thread that handles requests for seconds.
   */
  readonly maxPixels?: number
}

export interface CodecModules {
  readonly jpegDecoder: object
  readonly jpegEncoder: object
  readonly webpDecoder: object
  readonly webpEncoder: object
  readonly oxipng: object
}

/** A PNG image with more pixels would block the thread that handles requests for too long. */
const MAX_PNG_PIXELS = 8_000_000
/** The level of OxiPNG for small images, and for those with more pixels than `SMALL`. */
const OXIPNG_LEVELS = [3, 1] as const
const SMALL = 300_000
/** Beyond this many pixels, each encoding takes long. */
const LARGE = 2_000_000

/** An optimiser that uses the code from `load`, which is called with the first image. */
export function optimizerWith(
  load: () => Promise<CodecModules>,
  options: WasmOptions,
  defaultPixels: number,
): ImageOptimizer {
  checkOptions(options, { maxPixels: natural }, 'wasmImages')
  const { maxPixels: ownMaxPixels = defaultPixels } = options
  const ready = startedOnce(async () => initialised(await load()))
  return optimizerOf(async (bytes, contentType, level, maxPixels, until) => {
    if (staysAsItIs(bytes, contentType, maxPixels, ownMaxPixels)) return bytes
    await ready()
    return encoded(bytes, contentType, sizeTarget(bytes.length, level), until)
  })
}

/** Reads the header and refuses images that the codecs have no memory for, or would damage. */
function staysAsItIs(
  bytes: Uint8Array,
  contentType: OptimizedType,
  maxPixels: number,
  ownMaxPixels: number,
): boolean {
  const { width, height, moves, turned } = headerOf(bytes, contentType)
  const pixels = width * height
  if (pixels > maxPixels) throw new TooManyPixels(`${width} × ${height}`)
  const most = contentType === 'image/png' ? Math.min(ownMaxPixels, MAX_PNG_PIXELS) : ownMaxPixels
  if (pixels > most) throw new Error(`${width} × ${height} pixels need too much memory`)
  if (hasOtherColours(bytes)) throw new Error('its colour profile cannot be applied')
  if (turned) throw new Error('its orientation cannot be applied')
  return moves || isEmptyish(bytes.length, pixels)
}

async function initialised(modules: CodecModules): Promise<void> {
  await initJpegDecoder(modules.jpegDecoder)
  await initJpegEncoder(modules.jpegEncoder)
  await initWebpDecoder(modules.webpDecoder)
  await initWebpEncoder(modules.webpEncoder)
  await initOxipng(modules.oxipng)
}

async function encoded(
  bytes: Uint8Array,
  contentType: OptimizedType,
  target: SizeTarget,
  until: number,
): Promise<Uint8Array> {
  if (contentType === 'image/png') {
    const { width, height } = headerOf(bytes, contentType)
    return optimise(bytes, OXIPNG_LEVELS[width * height > SMALL ? 1 : 0], false, false)
  }
  const buffer = bytes.slice().buffer
  if (contentType === 'image/jpeg') {
    if (!endsWithItself(bytes)) throw new Error('it is cut off')
    // The codec turns the pixels upright when told to "preserve" the orientation.
    const image = await decodeJpeg(buffer, { preserveOrientation: true })
    return searched(image, encodeJpeg, target, until)
  }
  return searched(await decodeWebp(buffer), encodeWebp, target, until)
}

/** Searches for a quality; for a large image on a smaller copy. */
function searched(
  image: ImageData,
  encode: (image: ImageData, options: { quality: number }) => Promise<ArrayBuffer>,
  target: SizeTarget,
  until: number,
): Promise<Uint8Array> {
  // The codecs run on the thread that handles requests, so requests get their turn between two encodings.
  const encodeOf =
    (pixels: ImageData): Encode =>
    async (quality) => {
      await nextTurn()
      return new Uint8Array(await encode(pixels, { quality }))
    }
  if (image.width * image.height <= LARGE) return bisectQuality(encodeOf(image), target, until)
  return sampledQuality(encodeOf(image), encodeOf(middleOf(image)), target, until)
}

/** The middle of an image, a quarter as wide and as high. */
function middleOf({ width, height, data, colorSpace }: ImageData): ImageData {
  const [wide, high] = [Math.ceil(width / 4), Math.ceil(height / 4)]
  const pixels = new Uint8ClampedArray(wide * high * 4)
  for (let row = 0; row < high; row += 1) {
    const from = ((Math.floor((height - high) / 2) + row) * width + ((width - wide) >> 1)) * 4
    pixels.set(data.subarray(from, from + wide * 4), row * wide * 4)
  }
  return { width: wide, height: high, data: pixels, colorSpace } as ImageData
}

/** A JPEG image's last marker is near its end; the decoder would fill a truncated image up with grey. */
function endsWithItself(bytes: Uint8Array): boolean {
  const tail = bytes.subarray(-64 * 1024)
  return tail.some((byte, index) => byte === 0xff && tail[index + 1] === 0xd9)
}

/** The codecs drop colour profiles without applying them, which is harmless only for sRGB. */
function hasOtherColours(bytes: Uint8Array): boolean {
  const text = new TextDecoder('latin1').decode(bytes.subarray(0, 64 * 1024))
  const hasProfile = text.includes('ICC_PROFILE\0') || /^RIFF[^]{4}WEBP[^]*ICCP/.test(text)
  return hasProfile && !/s\0?R\0?G\0?B/.test(text)
}
