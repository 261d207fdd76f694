/**
 * The length of texts in bytes.
 *
 * @module
 */

const encoder = new TextEncoder()
const buffer = new Uint8Array(64 * 1024)

/** The bytes of `text` in UTF-8. Encodes one piece at a time: encoding the whole would need as much memory again. */
export function utf8Length(text: string): number {
  let length = 0
  for (let at = 0; at < text.length; ) {
    const { read, written } = encoder.encodeInto(text.slice(at, at + buffer.length), buffer)
    length += written
    at += read
  }
  return length
}
