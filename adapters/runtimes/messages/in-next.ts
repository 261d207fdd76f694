/**
 * Whether Next.js serves the app. It takes `Content-Encoding` off the responses of routes, and compresses by itself.
 *
 * @module
 */

/** Next.js writes the value of this variable into what it builds. Deno would ask for a permission to read it. */
export const isInNext: boolean =
  !('Deno' in globalThis) && typeof process !== 'undefined' && !!process.env.NEXT_RUNTIME
