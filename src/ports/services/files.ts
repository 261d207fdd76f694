/**
 * The file store port: where uploaded objects live.
 *
 * Keys are made by the server (`isKey`), so an adapter may use them in paths and URLs as they are. fieldgate puts a
 * deadline on every call and takes a rejection as "unavailable". An adapter may simply throw, and must not retry what
 * was half sent: fieldgate calls `put` once more for an error with `again: true`. extras/contract/files tests each promise.
 */

/** Who may read an object: only holders of a signed link (`private`), or everyone (`public-read`). */
export type Acl = 'private' | 'public-read'

/** What is stored beside an object's bytes. */
export interface FileMeta {
  /** The media type, detected from the bytes. */
  readonly contentType: string
  /** `inline` for images that browsers show safely, else `attachment`. */
  readonly contentDisposition: 'inline' | 'attachment'
  readonly acl: Acl
  /** Length in bytes. */
  readonly size: number
}

/** Options of any call. */
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

/** Bytes kept outside of the store until it is known whether they are needed. They vanish with the process. */
export interface Stage {
  /** Appends a chunk; the next call waits for this one. */
  write(chunk: Uint8Array): Promise<void>
  /** All the bytes, from the start. */
  read(): ReadableStream<Uint8Array>
  /** Discards the bytes. Calling it twice is harmless. */
  discard(): Promise<void>
}

/** Stores objects under keys made by the server. */
export interface FileStore {
  /**
   * Stores the whole object durably, or rejects and leaves nothing behind. Rejects a body whose length differs from
   * `meta.size`. Streams are passed on, not buffered. Resolves to the object's URL.
   */
  put(
    key: string,
    body: ReadableStream<Uint8Array> | Uint8Array,
    meta: FileMeta,
    options?: CallOptions,
  ): Promise<string>
  /** Removes an object; an absent one is not an error. */
  delete(key: string, options?: CallOptions): Promise<void>
  /** The URL under which `put` stores `key`. */
  urlOf(key: string): string
  /** The key that a URL of this store leads to, whether signed or not; undefined for any other string. */
  keyOf(url: string): string | undefined
  /**
   * A link that opens the object at `url` for `seconds`, even a private one. With `steady`, the store returns the same
   * link for that many seconds, and the link stays valid for up to that many seconds longer: responses and caches that
   * contain it then do not change with every read.
   */
  signedUrl(url: string, seconds: number, steady?: number): Promise<string>
  /** The objects whose key starts with `prefix`, in no particular order. */
  list(prefix: string): AsyncIterable<StoredFile>
  /**
   * Rejects if objects cannot be stored or read at the moment; writes nothing. Without it, fieldgate asks `list` for a
   * prefix that has no objects.
   */
  ping?(options?: CallOptions): Promise<void>
  /** Keeps bytes outside of memory until they are needed. Without it, fieldgate holds them in memory. */
  stage?(): Promise<Stage>
  /**
   * Serves GET and HEAD requests for the store's own URLs, if no other server does; resolves to undefined for any other
   * request. Rejects with `FileForbidden` or `RangeNotSatisfiable`.
   */
  serve?(request: Request): Promise<Response | undefined>
  /**
   * The code that takes uploads, `uploads` of `fieldgate/uploads`. Only a bundle for Workers or browsers needs it; elsewhere it is loaded
   * without this.
   */
  readonly uploads?: () => Promise<object>
  /** Releases everything. Calling it twice is harmless. */
  close?(): Promise<void>
}

/** This link may not open the file: it is unsigned, forged or expired. */
export class FileForbidden extends Error {
  override readonly name = 'FileForbidden'
}

/** The requested range lies outside the file. */
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

/** Whether `key` may be an object's key: it has only safe segments, so no path can leave its folder or URL. */
export function isKey(key: string): boolean {
  return key.length <= 512 && KEY.test(key)
}
