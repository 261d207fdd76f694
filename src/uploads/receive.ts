/** A multipart body → text fields and buffered files. Sizes and counts are checked as it arrives (spec 4.3; OWASP API4). */

import { type BodyLimits, eachChunk, refuseEncoded } from '../http/body/body.ts'
import { jsonParser } from '../http/body/json-parser.ts'
import type { ApiRequest } from '../http/request/request.ts'
import { nextTurn, TURN_LENGTH } from '../ports/promises/turns.ts'
import type { FileStore } from '../ports/services/files.ts'
import type { OptimizationLevel } from '../ports/services/images.ts'
import type { ObjectShape } from '../ports/store/shape.ts'
import { BufferedFile, FILE_BLOCK, TEXT_BLOCK } from './buffered-file.ts'
import { addTo, Branch, formValues } from './form-fields.ts'
import { newKey } from './model-files.ts'
import { multipartParser, type PartHead, type PartSink } from './multipart.ts'
import { LEVELS, type Upload } from './options.ts'
import * as refuse from './refusals.ts'
import { type FileType, sniff } from './sniff.ts'
import { ofStorage } from './storage.ts'
import { bytesOf } from './strip/stripped.ts'

/** A file that has arrived completely and is of an allowed type, with the key and URL that it will have. */
export interface IncomingFile {
  readonly field: string
  readonly type: FileType
  readonly held: BufferedFile
  readonly key: string
  readonly url: string
}

export interface Incoming {
  /** What was sent, without the files. */
  readonly sent: unknown
  readonly files: readonly IncomingFile[]
  /** How strongly its images are compressed. */
  readonly level: OptimizationLevel | undefined
  /** The client who sent the images: clients take turns. */
  readonly client: unknown
  /** The request, for log lines about its files. */
  readonly request: ApiRequest
  readonly discard?: () => Promise<void>
}

const MIB = 1024 * 1024
/** The most bytes of text, both in one field and in all of them together. */
const MAX_TEXT = MIB
/** The most text parts and empty file inputs. */
const MAX_SMALL_PARTS = 1000
/** Room for headers and boundaries beyond what the parts may hold. */
const OVERHEAD = MIB

interface Part extends PartHead {
  readonly held: BufferedFile
}

interface BodyRules {
  readonly host: BodyLimits & { readonly files: FileStore | undefined; readonly now: () => number }
  readonly upload: Upload
  readonly shape: ObjectShape
}

/** Reads a multipart body. If this throws, everything buffered is discarded. */
export async function receiveIncoming(
  { host, upload, shape }: BodyRules,
  request: ApiRequest,
  clientAddress: unknown,
): Promise<Incoming> {
  const body = new MultipartBody(upload, host.files)
  try {
    const files = await body.read(request, host)
    const sent = formValues(body.texts, shape, jsonParser(host.maxBodyValues))
    // The first of the client's choices that names a level wins.
    const choices = [
      request.query.imgOptimizations,
      sent.imgOptimizations,
      request.headers.get('x-img-optimizations'),
    ]
    const chosen = upload.allowClientImageOptions ? choices.find(isLevel) : undefined
    const level = chosen ?? upload.imgOptimizations
    // If the runtime does not tell the address, each request counts as a client of its own.
    const client = clientAddress ?? request
    return { sent, files, level, client, request, discard: () => body.discard() }
  } catch (error) {
    await body.discard()
    throw error
  }
}

const isLevel = (value: unknown): value is OptimizationLevel =>
  LEVELS.includes(value as OptimizationLevel)

class MultipartBody {
  readonly texts: Branch = new Branch()
  readonly #upload: Upload
  readonly #store: FileStore | undefined
  readonly #files: Part[] = []
  readonly #counts = new Map<string, number>()
  #smallParts = 0
  #textSize = 0
  /** What one chunk of the body contained, in order. */
  #arrived: { readonly part: Part; readonly bytes: Uint8Array | null }[] = []

  constructor(upload: Upload, store: FileStore | undefined) {
    this.#upload = upload
    this.#store = store
  }

  /** Receives it, within the time limit of `eachChunk`; resolves to its files. */
  async read(request: Request, { bodyTimeoutMs, now }: BodyRules['host']): Promise<IncomingFile[]> {
    refuseEncoded(request.headers.get('content-encoding'))
    const contentType = request.headers.get('content-type') ?? ''
    const parser = multipartParser(contentType, (head) => this.#accept(head))
    const { maxFiles, maxFileSize, allowedMimeTypes, prefix } = this.#upload
    let left = maxFiles * maxFileSize + MAX_TEXT + OVERHEAD
    let untilTurn = TURN_LENGTH
    const take = async (chunk: Uint8Array): Promise<void> => {
      left -= chunk.length
      if (left < 0) throw refuse.malformedMultipart()
      parser.write(chunk)
      await this.#hold()
      // What has already arrived comes at once, and a body may consist of thousands of headers.
      untilTurn -= chunk.length
      if (untilTurn > 0) return
      untilTurn = TURN_LENGTH
      await nextTurn()
    }
    await eachChunk(request, bodyTimeoutMs, take, refuse.malformedMultipart)
    parser.end()
    await this.#hold()
    const files: IncomingFile[] = []
    for (const { name: field, held } of this.#files) {
      const type = await sniff(held.head())
      if (!type) throw refuse.unrecognisedType(field)
      if (!allowedMimeTypes.has(type.mime)) throw refuse.typeNotAllowed(type.mime)
      const key = newKey(prefix, type.extension, now())
      files.push({ field, type, held, key, url: this.#store?.urlOf(key) ?? '' })
    }
    return files
  }

  async discard(): Promise<void> {
    await Promise.allSettled(this.#files.map(({ held }) => held.discard()))
  }

  #accept(head: PartHead): PartSink {
    // Scripts that send JSON have to give it a file name.
    const isText =
      head.filename === undefined || (head.isJson && !this.#upload.fields.has(head.name))
    return isText ? this.#acceptText(head) : this.#acceptFile(head)
  }

  #acceptText(head: PartHead): PartSink {
    this.#count()
    const part = { ...head, filename: undefined, held: new BufferedFile(TEXT_BLOCK) }
    return (bytes) => {
      this.#textSize += bytes?.length ?? 0
      if (this.#textSize > MAX_TEXT) throw refuse.fieldTooLong()
      this.#arrived.push({ part, bytes })
    }
  }

  /** Each part costs time, even one without bytes, and a body has room for a million of those. */
  #count(): void {
    this.#smallParts += 1
    if (this.#smallParts > MAX_SMALL_PARTS) throw refuse.tooManyFields()
  }

  #acceptFile(head: PartHead): PartSink {
    let part: Part | undefined
    let size = 0
    // A form sends an empty file input as a file without name and bytes.
    if (head.filename === '') this.#count()
    else part = this.#admit(head)
    return (bytes) => {
      if (bytes === null) return
      part ??= this.#admit(head)
      size += bytes.length
      if (size > this.#upload.maxFileSize) throw refuse.fileTooLarge()
      this.#arrived.push({ part, bytes })
    }
  }

  #admit(head: PartHead): Part {
    const { fields, maxFiles } = this.#upload
    const count = (this.#counts.get(head.name) ?? 0) + 1
    if (this.#files.length >= maxFiles) throw refuse.tooManyFiles()
    if (count > (fields.get(head.name)?.maxCount ?? 0)) throw refuse.unexpectedFile()
    if (!this.#store) throw refuse.storageNotConfigured()
    this.#counts.set(head.name, count)
    const open = this.#store.stage?.bind(this.#store)
    const part = { ...head, held: new BufferedFile(FILE_BLOCK, open) }
    this.#files.push(part)
    return part
  }

  async #hold(): Promise<void> {
    const arrived = this.#arrived
    this.#arrived = []
    for (const { part, bytes } of arrived) {
      if (bytes === null) {
        const text = await textOf(part)
        // A byte order mark is part of a text, but not of JSON.
        addTo(this.texts, part.name, part.isJson ? { json: text.replace(/^\uFEFF/, '') } : text)
      } else if (part.filename === undefined) await part.held.write(bytes)
      else await ofStorage(part.held.write(bytes))
    }
  }
}

async function textOf({ held, charset }: Part): Promise<string> {
  try {
    // Apache's HttpClient sends Latin-1 unless told otherwise, and says so.
    const decoder = new TextDecoder(charset, { fatal: true, ignoreBOM: true })
    return decoder.decode(await bytesOf(held))
  } catch {
    throw refuse.malformedMultipart()
  }
}
