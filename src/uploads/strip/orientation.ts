/** Which side of an image is up: the only EXIF tag that stored images keep (Exif 3.0, section 4.6.5). */

import { numbersIn, startsWith } from './walk.ts'

/** The most bytes of EXIF data that are read: the first directory is at its start. */
export const MAX_EXIF_BYTES: number = 64 * 1024

/** The bytes before EXIF data in JPEG, and by mistake elsewhere. */
export const EXIF_NAME = 'Exif\0\0'

const ORIENTATION = 0x0112
const SHORT = 3
const ENTRY = 12

/** The orientation in EXIF data, 2 to 8; undefined if the pixels are upright or it is unknown. */
export function orientationIn(exif: Uint8Array): number | undefined {
  const tiff = startsWith(exif, EXIF_NAME) ? exif.subarray(EXIF_NAME.length) : exif
  const little = startsWith(tiff, 'II*\0')
  if (tiff.length < 8 || !(little || startsWith(tiff, 'MM\0*'))) return undefined
  const view = numbersIn(tiff)
  const directory = view.getUint32(4, little)
  // A directory is its length, then its entries.
  for (let at = directory + 2; at + ENTRY <= tiff.length; at += ENTRY) {
    const count = view.getUint16(directory, little)
    if (at >= directory + 2 + count * ENTRY) return undefined
    if (view.getUint16(at, little) !== ORIENTATION) continue
    const value = view.getUint16(at + 8, little)
    const isTurned = view.getUint16(at + 2, little) === SHORT && value >= 2 && value <= 8
    return isTurned ? value : undefined
  }
  return undefined
}

/** EXIF data with only the orientation, without the name before it. */
export function exifOf(orientation: number): Uint8Array {
  const bytes = new Uint8Array(26)
  bytes.set([0x4d, 0x4d, 0, 0x2a, 0, 0, 0, 8, 0, 1])
  bytes.set([ORIENTATION >> 8, ORIENTATION & 0xff, 0, SHORT, 0, 0, 0, 1, 0, orientation], 10)
  return bytes
}
