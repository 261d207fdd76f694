/**
 * The file store port: where uploaded objects live.
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
  readonly contentDisposition: string
  readonly acl: Acl
  /** Length in bytes where it is known beforehand. */
  readonly size?: number
}

/** One stored object in a listing. */
export interface StoredFile {
  readonly key: string
  /** When it was stored, epoch milliseconds. */
  readonly storedAt: number
}

/** Stores objects under keys that the server made. */
export interface FileStore {
  /** Stores an object whole, or rejects and leaves nothing behind. Resolves to its URL. */
  put(key: string, body: ReadableStream<Uint8Array> | Uint8Array, meta: FileMeta): Promise<string>
  /** Removes an object; an absent one is no error. */
  delete(key: string): Promise<void>
  /** The URL under which `put` stores `key`. */
  urlOf(key: string): string
  /** The key that a URL of this store leads to, or undefined for any other URL. */
  keyOf(url: string): string | undefined
  /** A link that opens the object for `seconds`, private ones too. */
  signedUrl(url: string, seconds: number): Promise<string>
  /** The objects whose key starts with `prefix`. */
  list(prefix: string): AsyncIterable<StoredFile>
  /** Serves the store's own URLs, where no other server does; undefined for any other request. */
  serve?(request: Request): Promise<Response | undefined>
  close?(): Promise<void>
}
