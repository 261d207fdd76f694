/**
 * SHA-256 (FIPS 180-4) in JavaScript, for Workers without `nodejs_compat` and for browsers: a tenth of the bytes that a
 * library takes, which every Worker would have and most would not run.
 */

type State = [number, number, number, number, number, number, number, number]

const BLOCK = 64

/** What the algorithm begins with, and adds in each round: the first bits of the roots of the first primes. */
let constants: { readonly start: State; readonly rounds: readonly number[] } | undefined

function newConstants(): NonNullable<typeof constants> {
  const primes: number[] = []
  for (let n = 2; primes.length < BLOCK; n += 1) if (primes.every((p) => n % p > 0)) primes.push(n)
  const bits = (power: number) => primes.map((prime) => ((prime ** power % 1) * 2 ** 32) | 0)
  return { start: bits(1 / 2).slice(0, 8) as State, rounds: bits(1 / 3) }
}

/** The SHA-256 of bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  constants ??= newConstants()
  const padded = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK))
  new Uint8Array(padded.buffer).set(bytes)
  padded.setUint8(bytes.length, 0x80)
  padded.setUint32(padded.byteLength - 8, bytes.length / 2 ** 29)
  padded.setUint32(padded.byteLength - 4, bytes.length << 3)
  let state = constants.start
  for (let at = 0; at < padded.byteLength; at += BLOCK) {
    state = afterBlock(state, constants.rounds, padded, at)
  }
  const digest = new DataView(new ArrayBuffer(32))
  for (const [at, word] of state.entries()) digest.setInt32(at * 4, word)
  return new Uint8Array(digest.buffer)
}

function afterBlock(state: State, rounds: readonly number[], padded: DataView, at: number): State {
  const words = new Int32Array(BLOCK)
  const word = (i: number) => words[i] as number
  let [a, b, c, d, e, f, g, h] = state
  for (let i = 0; i < BLOCK; i += 1) {
    words[i] =
      i < 16
        ? padded.getInt32(at + i * 4)
        : word(i - 16) +
          word(i - 7) +
          mixed(word(i - 15), 7, 18, 3) +
          mixed(word(i - 2), 17, 19, 10)
    const first =
      h +
      (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) +
      ((e & f) ^ (~e & g)) +
      (rounds[i] as number) +
      word(i)
    const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0]
  }
  return [a, b, c, d, e, f, g, h].map((one, i) => (one + (state[i] as number)) | 0) as State
}

function turned(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

function mixed(word: number, one: number, other: number, shifted: number): number {
  return turned(word, one) ^ turned(word, other) ^ (word >>> shifted)
}

/** The HMAC-SHA-256 of bytes under `key` (RFC 2104). */
export function hmacSha256(key: Uint8Array, bytes: Uint8Array): Uint8Array {
  const short = key.length > BLOCK ? sha256(key) : key
  const padded = (pad: number) => Array.from({ length: BLOCK }, (_, i) => (short[i] ?? 0) ^ pad)
  const inner = sha256(new Uint8Array([...padded(0x36), ...bytes]))
  return sha256(new Uint8Array([...padded(0x5c), ...inner]))
}
