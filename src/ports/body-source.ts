/**
 * The port for bodies of requests whose runtime has a faster way to read them than a stream.
 *
 * @module
 */

/** A part of a body, or its end. */
export type BodyPart = ReadableStreamReadResult<Uint8Array> & {
  /** Whether it is known that nothing comes after it. */
  readonly isLast?: boolean
}

/** Reads a body, as the reader of a stream does. */
export interface BodyReader {
  read(): Promise<BodyPart>
}

/** A request whose body can be read without a stream. */
export interface BodySource {
  /** The one reader of the body; undefined if a stream reads it already. Throws a `TypeError` if it has been taken. */
  takeBody(): BodyReader | undefined
}
