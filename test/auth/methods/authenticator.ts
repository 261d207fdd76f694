/**
 * An authenticator in software: makes passkeys (ES256) and signs with them, as a browser would send it.
 *
 * @module
 */

import { createHash, randomBytes } from 'node:crypto'

/** What a test changes of a response. */
export interface Twist {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly counter?: number
  readonly flags?: number
  /** Whether the key is kept on several devices. */
  readonly synced?: boolean
  readonly type?: string
  /** What it says besides, in CBOR. */
  readonly extensions?: Uint8Array
}

const [UP, UV, BE, BS, AT, ED] = [1, 4, 8, 16, 64, 128]

function cbor(value: unknown): Buffer {
  const head = (major: number, size: number): Buffer => {
    if (size < 24) return Buffer.from([(major << 5) | size])
    if (size < 256) return Buffer.from([(major << 5) | 24, size])
    const long = Buffer.alloc(5, (major << 5) | 26)
    long.writeUInt32BE(size, 1)
    return size < 65_536 ? Buffer.from([(major << 5) | 25, size >> 8, size & 255]) : long
  }
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') {
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  }
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  const entries = [...(value as Map<unknown, unknown>)]
  return Buffer.concat([head(5, entries.length), ...entries.flat().map(cbor)])
}

function sha256(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest()
}

/** Turns a raw signature (r and s) into the DER that WebAuthn has. */
function der(raw: Uint8Array): Buffer {
  const integer = (bytes: Uint8Array): Buffer => {
    let at = 0
    while (at < bytes.length - 1 && bytes[at] === 0) at += 1
    const trimmed = Buffer.from(bytes.slice(at))
    const padded =
      (trimmed[0] as number) > 127 ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed
    return Buffer.concat([Buffer.from([2, padded.length]), padded])
  }
  const body = Buffer.concat([integer(raw.slice(0, 32)), integer(raw.slice(32))])
  return Buffer.concat([Buffer.from([48, body.length]), body])
}

/** An authenticator with one passkey. */
export class Authenticator {
  readonly id: Buffer = randomBytes(32)
  readonly #origin: string
  readonly #keys: Promise<CryptoKeyPair>
  #counter: number
  #handle = ''

  /** `counter` is that of the first use; undefined for keys that don't count. */
  constructor(origin = 'https://example.com', counter = 0) {
    this.#origin = origin
    this.#counter = counter
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
    this.#keys = crypto.subtle.generateKey(algorithm, true, [
      'sign',
      'verify',
    ]) as Promise<CryptoKeyPair>
  }

  /** The credential of a registration. */
  async create(publicKey: PublicKey, twist: Twist = {}): Promise<object> {
    this.#handle = publicKey.user?.id ?? ''
    const raw = Buffer.from(await crypto.subtle.exportKey('raw', (await this.#keys).publicKey))
    const cose = new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, raw.subarray(1, 33)],
      [-3, raw.subarray(33)],
    ])
    const attested = Buffer.concat([
      Buffer.alloc(16),
      Buffer.from([0, this.id.length]),
      this.id,
      cbor(cose),
      twist.extensions ?? Buffer.alloc(0),
    ])
    const data = Buffer.concat([this.#data(publicKey.rp?.id ?? '', twist, AT), attested])
    const attestation = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', data],
    ])
    return this.#credential({
      clientDataJSON: this.#client('webauthn.create', publicKey, twist),
      attestationObject: cbor(attestation).toString('base64url'),
      transports: ['internal'],
    })
  }

  /** The credential of a sign-in. */
  async get(publicKey: PublicKey, twist: Twist = {}): Promise<object> {
    if (this.#counter > 0) this.#counter += 1
    const said = this.#data(publicKey.rpId ?? '', twist, 0)
    const data = Buffer.concat([said, twist.extensions ?? Buffer.alloc(0)])
    const client = this.#client('webauthn.get', publicKey, twist)
    const signed = Buffer.concat([data, sha256(Buffer.from(client, 'base64url'))])
    const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
    const raw = await crypto.subtle.sign(algorithm, (await this.#keys).privateKey, signed)
    return this.#credential({
      clientDataJSON: client,
      authenticatorData: data.toString('base64url'),
      signature: der(new Uint8Array(raw)).toString('base64url'),
      userHandle: this.#handle,
    })
  }

  #data(rpId: string, twist: Twist, more: number): Buffer {
    const synced = twist.synced ? BE | BS : 0
    const flags = twist.flags ?? UP | UV | synced
    const extended = twist.extensions ? ED : 0
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(twist.counter ?? this.#counter)
    return Buffer.concat([
      sha256(twist.rpId ?? rpId),
      Buffer.from([flags | more | extended]),
      counter,
    ])
  }

  #client(type: string, { challenge }: PublicKey, twist: Twist): string {
    const data = {
      type: twist.type ?? type,
      challenge: twist.challenge ?? challenge,
      origin: twist.origin ?? this.#origin,
      crossOrigin: false,
    }
    return Buffer.from(JSON.stringify(data)).toString('base64url')
  }

  #credential(response: object): object {
    const id = this.id.toString('base64url')
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response }
  }
}

/** What an authenticator reads of the options. */
export interface PublicKey {
  readonly challenge: string
  readonly rp?: { readonly id: string }
  readonly rpId?: string
  readonly user?: { readonly id: string }
}
