/**
 * The port for bodies of requests whose runtime has a faster way to read them than a stream.
 *
 * @module
 */

/** Reads a body, as the reader of a stream does. */
export interface BodyReader {
  read(): Promise<ReadableStreamReadResult<Uint8Array>>
}

/** A request whose body can be read without a stream. */
export interface BodySource {
  /** The one reader of the body; undefined if a stream reads it already. Throws a `TypeError` if it has been taken. */
  takeBody(): BodyReader | undefined
}
