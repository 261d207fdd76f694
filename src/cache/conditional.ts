/** Conditional requests (RFC 9110 8.8.3, 13.1): entity tags, and whether the client has the current state. */

import { recordChanged } from '../http/errors/refusals.ts'
import type { ApiRequest } from '../http/request/request.ts'
import { emptyResponse, jsonResponse } from '../http/response/respond.ts'
import type { MaybePromise } from '../ports/promises/maybe-promise.ts'

export interface Entry {
  readonly body: string
  readonly etag: string
}

/** A JSON body, and what identifies it. */
export interface Tagged {
  /** The bytes sent. */
  readonly body: string
  /** For a `body` with links that are signed anew from time to time: what changes only when a record is written. */
  readonly state?: string | undefined
}

/** The response to a read that is not cached. What is there already is not waited for. */
export function respondToRead(
  request: ApiRequest,
  read: MaybePromise<Tagged>,
): MaybePromise<Response> {
  if (read instanceof Promise) return read.then((made) => respondToRead(request, made))
  return entryResponse(request, { body: read.body, etag: etagOf(read) })
}

/** The body with its entity tag, or a 304 if the client already has it; `cache` says where it came from. */
export function entryResponse(
  request: ApiRequest,
  { body, etag }: Entry,
  cache?: 'HIT' | 'MISS',
): Response {
  const { headers } = request
  if (headers.has('if-match') && !isCurrent(headers, etag)) throw recordChanged()
  if (headers.has('if-none-match') && isKnownToClient(headers, etag))
    return emptyResponse(304, { ETag: etag })
  return jsonResponse(body, { headers: { ETag: etag, ...(cache && { 'X-Cache': cache }) } })
}

const TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g

/** Whether `If-None-Match` names the body with `etag`; weak tags count too. */
export function isKnownToClient(headers: Headers, etag: string): boolean {
  const header = headers.get('if-none-match')
  if (header === null) return false
  if (header === etag || header.trim() === '*') return true
  return tagsIn(header).some((tag) => tag === etag || tag === `W/${etag}`)
}

/** Whether `If-Match` names the body with `etag`, or any; without it, that of a file is as old as `If-Unmodified-Since` says. */
export function isCurrent(headers: Headers, etag: string, storedAt?: string | null): boolean {
  const tags = ifMatch(headers)
  if (tags === 'none' && storedAt) {
    // Not a date: nothing is asked for (RFC 9110, 13.1.4).
    return !(Date.parse(storedAt) > Date.parse(headers.get('if-unmodified-since') ?? ''))
  }
  return typeof tags === 'string' || tags.includes(etag)
}

/** The condition in `If-Match`: none, any version, or one of these tags. */
export function ifMatch(headers: Headers): 'none' | 'any' | readonly string[] {
  const header = headers.get('if-match')
  if (header === null) return 'none'
  // A weak tag says nothing about bytes, so it never equals a strong one.
  return header.trim() === '*' ? 'any' : tagsIn(`${header},${header.replace(ADDED, '"')}`)
}

/** What Apache and Caddy add to the tag of a response that they compress; in `If-Match` they leave it. */
const ADDED = /-(?:gzip|br|zstd)"/g

/** The codings that `compress` knows. */
export const CODINGS: readonly string[] = ['gzip', 'br', 'zstd']

/** Tags without those of `codings` that `compress` adds: each coding of a response has its own (RFC 9110, 8.8.3.3). */
export function withoutCodings(tags: string, codings: readonly string[] = CODINGS): string {
  return codings.reduce((rest, coding) => rest.replaceAll(`+${coding}"`, '"'), tags)
}

function tagsIn(header: string): readonly string[] {
  return header.match(TAG) ?? []
}

const CHUNK = 64 * 1024
/** The loop below reads eight bytes per step; the last step may read past the end of the string. */
const STEP = 8

const encoder = new TextEncoder()
const bytes = new Uint8Array(CHUNK + STEP)
const chunk = bytes.subarray(0, CHUNK)
const words = new Uint32Array(bytes.buffer)

export function etagOf({ body, state }: Tagged): string {
  return state === undefined
    ? hashOf(body)
    : `${hashOf(state).slice(0, -1)}-${hashOf(body).slice(1)}`
}

/** The part of a tag that stays the same until a record is written. */
export function stateIn(etag: string): string | undefined {
  return etag.split('-', 1)[0]
}

/**
 * 64 bits in quotes, mixed as by xxHash: a tag protects no secret, and a cryptographic hash would cost several times as much. The
 * halves of a step don't wait for each other's products.
 */
function hashOf(text: string): string {
  let a = 0x9368e53c
  let b = 0x586dcd20
  let length = 0
  let rest = text
  while (rest !== '') {
    // The whole string at once, unless it is very long.
    const { read, written } = encoder.encodeInto(rest, chunk)
    bytes.fill(0, written, written + STEP)
    for (let at = 0; at * 4 < written; at += 2) {
      const first = (a + Math.imul(words[at] as number, 0x85ebca77)) | 0
      const second = (b + Math.imul(words[at + 1] as number, 0x85ebca77)) | 0
      a = (Math.imul((first << 13) | (first >>> 19), 0x9e3779b1) + b) | 0
      b = (Math.imul((second << 13) | (second >>> 19), 0x9e3779b1) + a) | 0
    }
    length += written
    rest = read === rest.length ? '' : rest.slice(read)
  }
  a = avalanche(a ^ length) + b
  b = avalanche(b ^ length) + a
  const [first, second] = [avalanche(a), avalanche(b)]
  // A string in one piece: V8 puts others together once more for each check of a header.
  for (let at = 0; at < 8; at += 1) {
    quoted[at + 1] = HEX[(first >>> (28 - at * 4)) & 15] as number
    quoted[at + 9] = HEX[(second >>> (28 - at * 4)) & 15] as number
  }
  return String.fromCharCode(...quoted)
}

const HEX = encoder.encode('0123456789abcdef')
const quoted = [...encoder.encode(`"${'0'.repeat(16)}"`)]

function avalanche(hash: number): number {
  let mix = hash
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b)
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35)
  return mix ^ (mix >>> 16)
}
