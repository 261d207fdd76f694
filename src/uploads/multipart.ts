/** Parses a multipart body as it arrives. multipasta does it; what it does not do yet (0.2.8) is mended here. */

import { make, type PartInfo } from 'multipasta'
import { joined } from '../ports/values/bytes.ts'
import { malformedMultipart } from './refusals.ts'

export interface PartHead {
  readonly name: string
  /** The client's name for a file, not used for anything; undefined for text. */
  readonly filename: string | undefined
  readonly isJson: boolean
  /** Of text; UTF-8 if undefined. */
  readonly charset: string | undefined
}

/** Takes one part's bytes, then null. Throwing ends the parsing. */
export type PartSink = (bytes: Uint8Array | null) => void

/** A parser that is fed as the body arrives. Throws a 400 for a malformed body. */
export interface MultipartParser {
  /** `chunk` has been processed, and passed on in pieces, when this returns. */
  write(chunk: Uint8Array): void
  end(): void
}

const DASH = 0x2d
const PATIENCE = 2

/** Parses a body sent as `contentType`. `onPart` gets each part's headers and returns what takes its bytes. */
export function multipartParser(
  contentType: string,
  onPart: (head: PartHead) => PartSink,
): MultipartParser {
  let complete = false
  let held: Uint8Array = new Uint8Array()
  const refuse = (): never => {
    throw malformedMultipart()
  }
  const parser = make({
    headers: { 'content-type': readable(contentType) },
    isFile: () => true,
    // Bytes after the last boundary are ignored, RFC 2046 section 5.1.1. multipasta does so in a later chunk only.
    onFile(info) {
      if (complete) return () => {}
      const sink = onPart(headOf(info))
      return (bytes) => complete || sink(bytes)
    },
    onField: refuse,
    onError: () => complete || refuse(),
    onDone: () => {
      complete = true
    },
  })
  const feed = (chunk: Uint8Array) => {
    try {
      if (!complete && chunk.length > 0) parser.write(chunk)
    } catch (error) {
      // multipasta decodes `filename*` as UTF-8, no matter which charset it names.
      throw error instanceof URIError ? malformedMultipart(error) : error
    }
  }
  return {
    write(chunk) {
      // multipasta takes the last boundary for a part if a chunk ends between its two closing dashes.
      const whole = held.length > 0 ? joined([held, chunk]) : chunk
      let end = whole.length
      while (end > whole.length - PATIENCE && whole[end - 1] === DASH) end -= 1
      held = whole.slice(end)
      feed(whole.subarray(0, end))
    },
    end() {
      feed(held)
      if (!complete) parser.end()
      if (!complete) refuse()
    },
  }
}

/** multipasta reads no tabs, no empty parameters (RFC 9110, 5.6.6), and no `=` in a boundary without quotes, as of Java. */
function readable(contentType: string): string {
  const parameters = contentType.split(';').map((one) => one.trim())
  const known = parameters.filter((one) => one !== '').join('; ')
  return known.replace(/; boundary=([^";]+)/i, '; boundary="$1"')
}

/** multipasta drops dispositions beyond Latin-1 and cuts names at an escaped quote, so both names are read here. */
function headOf(info: PartInfo): PartHead {
  const { headers, contentTypeParameters } = info
  const { 'content-disposition': header, 'content-transfer-encoding': coding = '8bit' } = headers
  // RFC 7578, 4.7 takes no coding; read as if there were none, its letters would be the text.
  if (!/^(?:[78]bit|binary)$/i.test(String(coding))) throw malformedMultipart()
  if (typeof header !== 'string' || !/^\s*form-data\s*;/i.test(header)) throw malformedMultipart()
  const name = parameter(header, 'name')
  if (!name) throw malformedMultipart()
  const filename = parameter(header, 'filename') ?? parameter(header, 'filename*')
  // Some clients name the type of a file alone.
  const isFile = filename !== undefined || FILE_TYPE.test(info.contentType)
  const isJson = /^application\/(?:[\w.-]+\+)?json$/i.test(info.contentType)
  const { charset } = contentTypeParameters
  return { name, filename: isFile ? (filename ?? 'unnamed') : undefined, isJson, charset }
}

const FILE_TYPE = /^(?:application\/(?:octet-stream|pdf)|audio|font|image|video)\b/i

/** A parameter's value; browsers write quotes and line ends in it as `%22`, `%0D` and `%0A`. */
function parameter(header: string, name: string): string | undefined {
  for (const [, key, quoted, token] of header.matchAll(PARAMETER)) {
    if (key?.toLowerCase() === name) return quoted?.replace(/\\(["\\])/g, '$1') ?? token
  }
  return undefined
}

const PARAMETER = /;\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\[^])*)"|([^\s;"]*))/g
