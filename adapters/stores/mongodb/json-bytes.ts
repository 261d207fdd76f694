/**
 * JSON as bytes: strings are UTF-8 in BSON and in responses, so that most of them need only be copied.
 *
 * @module
 */

import { Buffer } from 'node:buffer'
import { type Bson, int64 } from './bson.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c

const HEX = '0123456789abcdef'
const DAY_MS = 86_400_000
/** Later years have more digits. */
const YEAR_10000_MS = 253_402_300_800_000

/** The escapes of control characters, quotes and backslashes. */
const ESCAPES: readonly string[] = Array.from({ length: BACKSLASH + 1 }, (_, code) =>
  JSON.stringify(String.fromCharCode(code)).slice(1, -1),
)

/** JSON that grows. */
export class JsonBytes {
  #bytes: Buffer = Buffer.allocUnsafe(16 * 1024)
  /** The number of bytes so far. May be set back. */
  end = 0
  /** All bits of all bytes of strings: without the highest, they are ASCII. */
  #bits = 0
  /** The day of the last date, and how it begins: the dates of a list are often of one day. */
  #day = Number.NaN
  #dayText = ''

  /** Begins anew, with room for `size` bytes. */
  restart(size: number): void {
    if (this.#bytes.length < size) this.#bytes = Buffer.allocUnsafe(size)
    this.end = 0
    this.#bits = 0
  }

  toString(): string {
    return this.#bytes.toString(this.#bits < 0x80 ? 'latin1' : 'utf8', 0, this.end)
  }

  /** One byte of ASCII. */
  byte(byte: number): void {
    this.#bytes[this.end] = byte
    this.end += 1
  }

  /** Text of ASCII. */
  ascii(text: string): void {
    for (let index = 0; index < text.length; index += 1) this.byte(text.charCodeAt(index))
  }

  /** JSON in UTF-8. */
  copy(json: Uint8Array): void {
    let { end } = this
    for (let index = 0; index < json.length; index += 1) {
      const byte = json[index] ?? 0
      this.#bytes[end] = byte
      this.#bits |= byte
      end += 1
    }
    this.end = end
  }

  /** The string whose UTF-8 stands from `from` to `to`. */
  string({ bytes }: Bson, from: number, to: number): void {
    this.byte(QUOTE)
    const out = this.#bytes
    let { end } = this
    let bits = 0
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] ?? 0
      if (byte < 0x20 || byte === QUOTE || byte === BACKSLASH) {
        this.end = end
        this.ascii(ESCAPES[byte] ?? '')
        end = this.end
      } else {
        out[end] = byte
        bits |= byte
        end += 1
      }
    }
    this.end = end
    this.#bits |= bits
    this.byte(QUOTE)
  }

  /** The bytes from `from` to `to` in hexadecimal digits, as a string. */
  hexadecimal({ bytes }: Bson, from: number, to: number): void {
    this.byte(QUOTE)
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] ?? 0
      this.byte(HEX.charCodeAt(byte >> 4))
      this.byte(HEX.charCodeAt(byte & 15))
    }
    this.byte(QUOTE)
  }

  number(value: number): void {
    this.ascii(Number.isFinite(value) ? String(value) : 'null')
  }

  /** The date whose milliseconds since 1970 stand at `at`. */
  date(bson: Bson, at: number): void {
    const time = int64(bson, at)
    if (time < 0 || time >= YEAR_10000_MS) {
      this.ascii(JSON.stringify(new Date(time)))
      return
    }
    const day = Math.floor(time / DAY_MS)
    if (day !== this.#day) {
      this.#day = day
      this.#dayText = `"${new Date(time).toISOString().slice(0, 11)}`
    }
    const rest = time - day * DAY_MS
    this.ascii(this.#dayText)
    this.#twoDigits(rest / 3_600_000, ':')
    this.#twoDigits((rest / 60_000) % 60, ':')
    this.#twoDigits((rest / 1000) % 60, '.')
    this.byte(0x30 + Math.floor((rest % 1000) / 100))
    this.#twoDigits(rest % 100, 'Z')
    this.byte(QUOTE)
  }

  /** The whole part of a number below 100, and a sign after it. */
  #twoDigits(value: number, sign: string): void {
    this.byte(0x30 + Math.floor(value / 10))
    this.byte(0x30 + (Math.floor(value) % 10))
    this.byte(sign.charCodeAt(0))
  }
}
