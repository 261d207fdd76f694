/**
 * The file store port: where uploaded objects live.
 *
 * Keys are made by the server (`isKey`), so an adapter may use them as they are in paths and URLs. The kit gives
 * every call a deadline and takes a rejection for "unavailable"; an adapter throws freely and retries nothing that
 * was half sent. Promises: src/contract/files.
 *
 * @module
 */

/** Who may read an object: only holders of a signed link, or everybody. */
export type Acl = 'private' | 'public-read'

/** What is stored beside an object's bytes. */
export interface FileMeta {
  /** The media type that was told from the bytes. */
  readonly contentType: string
  /** `inline` for images that browsers show safely, else `attachment`. */
  readonly contentDisposition: 'inline' | 'attachment'
  readonly acl: Acl
  /** Length in bytes. */
  readonly size: number
}

/** What any call may be given. */
export interface CallOptions {
  /** Aborted at the call's deadline; the call should then reject and stop working. */
  readonly signal?: AbortSignal
}

/** One stored object in a listing. */
export interface StoredFile {
  readonly key: string
  /** When it was stored, epoch milliseconds. */
  readonly storedAt: number
}

/** Bytes set aside outside of the store until it is known whether they are wanted. Gone with the process. */
export interface Stage {
  /** Appends; the next call waits for this one. */
  write(chunk: Uint8Array): Promise<void>
  /** All of it, from the start. */
  read(): ReadableStream<Uint8Array>
  /** Forgets it. Calling it twice is harmless. */
  discard(): Promise<void>
}

/** Stores objects under keys that the server made. */
export interface FileStore {
  /**
   * Stores an object whole, durably, or rejects and leaves nothing behind; a body of another length than
   * `meta.size` is such a rejection. Streams are passed on, not held. Resolves to the object's URL.
   */
  put(
    key: string,
    body: ReadableStream<Uint8Array> | Uint8Array,
    meta: FileMeta,
    options?: CallOptions,
  ): Promise<string>
  /** Removes an object; an absent one is no error. */
  delete(key: string, options?: CallOptions): Promise<void>
  /** The URL under which `put` stores `key`. */
  urlOf(key: string): string
  /** The key that a URL of this store leads to, signed ones too, or undefined for any other text. */
  keyOf(url: string): string | undefined
  /**
   * A link that opens the object at `url` for `seconds`, private ones too. With `steady` the store gives the same
   * link for so many seconds, and it opens the object for up to so many seconds more: answers and caches that
   * show it do not change with every read.
   */
  signedUrl(url: string, seconds: number, steady?: number): Promise<string>
  /** The objects whose key starts with `prefix`, in no particular order. */
  list(prefix: string): AsyncIterable<StoredFile>
  /**
   * Rejects where objects cannot be stored or read now; writes nothing. Without it the kit asks `list` for a prefix that
   * has no objects.
   */
  ping?(options?: CallOptions): Promise<void>
  /** Sets bytes aside where there is room for them; without it the kit holds them in memory. */
  stage?(): Promise<Stage>
  /**
   * Serves GET and HEAD of the store's own URLs, where no other server does; undefined for any other request.
   * Rejects with `FileForbidden` or `RangeNotSatisfiable`.
   */
  serve?(request: Request): Promise<Response | undefined>
  /** Releases everything. Calling it twice is harmless. */
  close?(): Promise<void>
}

/** A file may not be read with this link: unsigned, forged or expired. */
export class FileForbidden extends Error {
  override readonly name = 'FileForbidden'
}

/** The requested range lies outside of the file. */
export class RangeNotSatisfiable extends Error {
  override readonly name = 'RangeNotSatisfiable'
  /** The file's length in bytes. */
  readonly size: number
  constructor(size: number) {
    super('the requested range lies outside of the file')
    this.size = size
  }
}

const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/

/** Whether `key` may be an object's key: safe segments, so that no path leads out of a folder or URL. */
export function isKey(key: string): boolean {
  return key.length <= 512 && KEY.test(key)
}
