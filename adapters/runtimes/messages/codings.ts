/**
 * What becomes of contents with a coding, such as gzip, on the way in and out.
 *
 * @module
 */

/**
 * Whether clients get contents with the name of their coding. Next.js takes `Content-Encoding` off the responses of routes, and
 * compresses by itself. It writes the value of this variable into what it builds; Deno would ask for a permission to read it.
 */
export const sendsCodings: boolean =
  'Deno' in globalThis || typeof process === 'undefined' || !process.env.NEXT_RUNTIME

/** What `fetch` undoes: Zstandard on Bun, and on Node since 24. */
export const UNDONE: RegExp =
  'Bun' in globalThis || Number.parseInt(globalThis.process?.versions?.undici ?? '', 10) >= 7
    ? /^(?:x-gzip|gzip|deflate|br|zstd)$/i
    : /^(?:x-gzip|gzip|deflate|br)$/i
