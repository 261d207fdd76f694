/** Checks whether an S3 server has stored what was sent: a proxy in front of it can respond to PUT with 200 too. */

export interface ObjectState {
  readonly etag: string | null | undefined
  /** Its length in bytes, if the server was asked for it. */
  readonly size?: number | undefined
}

/** Whether S3 asks for the same once more: it failed inside. If all are too many for it, more would be too. */
export function isBusy(status = 0, code: unknown): boolean {
  return status >= 500 && code !== 'SlowDown'
}

export interface Md5 {
  update(bytes: Uint8Array): unknown
  /** In hexadecimal, when all of them have passed. */
  digest(): string | Promise<string>
}

/**
 * Rejects unless the object is stored. The tag of a PUT is normally the MD5 of the bytes. If it isn't, e.g. because the
 * object is encrypted, `head` asks the server what it holds.
 */
export async function checkStored(
  put: ObjectState,
  md5: string | undefined,
  size: number,
  head: () => Promise<ObjectState>,
): Promise<void> {
  const tag = bare(put.etag)
  if (!tag) throw new Error('the server responded to PUT without an ETag, so it has stored nothing')
  if (tag === md5) return
  const stored = await head()
  if (bare(stored.etag) !== tag || stored.size !== size) {
    throw new Error('the server responded to PUT with 200, but does not hold the object')
  }
}

/** `body`, with its bytes passed to `sum` as they are sent. */
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
