/**
 * Whether an S3 server has stored what was sent to it: a proxy or a captive portal in front of it can answer PUT with
 * 200 too.
 *
 * @module
 */

/** What a server says of an object. */
export interface ObjectState {
  /** Its entity tag, as the header has it. */
  readonly etag: string | null | undefined
  /** Its length in bytes, where the server was asked for it. */
  readonly size?: number | undefined
}

/** The MD5 of bytes as they pass. */
export interface Md5 {
  update(bytes: Uint8Array): unknown
  /** In hexadecimal, when all of them have passed. */
  digest(): string | Promise<string>
}

/**
 * Rejects unless the object is stored. The tag of a PUT is the MD5 of the bytes. Where it isn't, because the object is
 * encrypted, say, `head` is asked for what the server holds.
 */
export async function checkStored(
  put: ObjectState,
  md5: string | undefined,
  size: number,
  head: () => Promise<ObjectState>,
): Promise<void> {
  const tag = bare(put.etag)
  if (!tag) throw new Error('the server answered PUT without an ETag, so it has stored nothing')
  if (tag === md5) return
  const stored = await head()
  if (bare(stored.etag) !== tag || stored.size !== size) {
    throw new Error('the server answered PUT with 200, and does not hold the object')
  }
}

/** `body`, whose bytes `sum` sees as they are sent. */
export function summed<Body extends ReadableStream<Uint8Array> | Uint8Array>(
  body: Body,
  sum: Md5 | undefined,
): Body | ReadableStream<Uint8Array> {
  if (!sum) return body
  if (body instanceof Uint8Array) {
    sum.update(body)
    return body
  }
  const passing = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      sum.update(chunk)
      controller.enqueue(chunk)
    },
  })
  return body.pipeThrough(passing)
}

/** A tag without its quotes; a proxy that compresses may have made it a weak one. */
function bare(etag: string | null | undefined): string | undefined {
  return etag?.replace(/^W\//, '').replaceAll('"', '')
}
