/**
 * The segments that a JPEG image is drawn from (ITU T.81, annex B), and how long each can be. Viewers skip all others, and
 * refuse longer ones, so whatever else is in them is not drawn.
 *
 * @module
 */

/** How many bytes of a segment are drawn from; fewer may be there. */
type Size = (data: Uint8Array) => number

/** The segments that stay, by their markers. */
const SIZES: ReadonlyMap<number, Size> = new Map<number, Size>([
  ...[0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf].map(
    (frame) => [frame, (data: Uint8Array) => 6 + 3 * (data[5] ?? 0)] as const,
  ),
  [0xc4, (data) => tables(data, huffman)],
  // Arithmetic coding: pairs, at most 16 of each class.
  [0xcc, () => 64],
  [0xda, (data) => 4 + 2 * (data[0] ?? 0)],
  [0xdb, (data) => tables(data, quantization)],
  [0xdd, () => 2],
])
/** The number of lines, which may come after the first scan alone. */
const DNL = 0xdc

/** How many bytes of a segment stay; undefined if none do. */
export function exactSize(code: number, data: Uint8Array, drawn: boolean): number | undefined {
  if (code === DNL) return drawn ? 2 : undefined
  return SIZES.get(code)?.(data)
}

/** The bytes of whole tables, one after the other; `sizeAt` returns NaN where there is none. */
function tables(data: Uint8Array, sizeAt: (data: Uint8Array, at: number) => number): number {
  let at = 0
  while (at < data.length) {
    const end = at + sizeAt(data, at)
    if (!(end <= data.length)) break
    at = end
  }
  return at
}

/** A table of quantization: its precision, its number, and 64 values. */
function quantization(data: Uint8Array, at: number): number {
  const head = data[at] ?? 0
  return (head & 0x0f) < 4 && head < 0x20 ? 1 + 64 * (head < 0x10 ? 1 : 2) : Number.NaN
}

/** A Huffman table: its class, its number, how many codes there are of each length, and their values. */
function huffman(data: Uint8Array, at: number): number {
  const head = data[at] ?? 0
  if ((head & 0x0f) > 3 || head >= 0x20 || at + 17 > data.length) return Number.NaN
  let size = 17
  for (let length = 1; length <= 16; length += 1) size += data[at + length] ?? 0
  return size <= 17 + 256 ? size : Number.NaN
}
