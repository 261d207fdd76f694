/** What an image's header says, read before anything is decoded. */

import type { OptimizedType } from './images.ts'

/** A still image's size in pixels, as stored. */
export interface ImageHeader {
  readonly width: number
  readonly height: number
  /** Whether it has several frames (an animation). */
  readonly moves: boolean
  /** Whether EXIF data rotates it, in a format whose codec ignores EXIF. */
  readonly turned?: boolean
}

/** Reads the header. Throws if the bytes are not such an image. */
export function headerOf(bytes: Uint8Array, contentType: OptimizedType): ImageHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  switch (contentType) {
    case 'image/png':
      return { width: view.getUint32(16), height: view.getUint32(20), moves: false }
    case 'image/webp':
      return webp(view)
    case 'image/jpeg':
      return jpeg(view)
  }
}

/** Frame headers (SOF0 to SOF15), except three codes that mean something else (ITU T.81, table B.1). */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
}

function jpeg(view: DataView): ImageHeader {
  for (let at = 2; ; ) {
    if (view.getUint8(at) !== 0xff) throw new Error('not a JPEG image')
    const marker = view.getUint8(at + 1)
    if (isFrame(marker)) {
      return { width: view.getUint16(at + 7), height: view.getUint16(at + 5), moves: false }
    }
    // Markers may be padded with 0xFF.
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2)
  }
}

/** RFC 9649, section 2. */
function webp(view: DataView): ImageHeader {
  switch (view.getUint32(12)) {
    case 0x56503858: // 'VP8X'
      return {
        width: uint24(view, 24) + 1,
        height: uint24(view, 27) + 1,
        moves: (view.getUint8(20) & 0x02) !== 0,
        // A stored image keeps no EXIF data except an orientation.
        turned: (view.getUint8(20) & 0x08) !== 0,
      }
    case 0x5650384c: {
      // 'VP8L'
      const bits = view.getUint32(21, true)
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1, moves: false }
    }
    case 0x56503820: // 'VP8 '
      return {
        width: view.getUint16(26, true) & 0x3fff,
        height: view.getUint16(28, true) & 0x3fff,
        moves: false,
      }
    default:
      throw new Error('not a WebP image')
  }
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
}
