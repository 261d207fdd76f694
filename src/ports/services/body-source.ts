/** The port for requests of runtimes that have faster ways than the standard: to read a body, and to make one again. */

/** A part of a body, or its end. */
export type BodyPart = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>> & {
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

/** A request that can be made again without a copy of what was sent. */
export interface Repeatable {
  /** What makes requests like this one, for methods without a body. */
  repeater(): () => Request
}
