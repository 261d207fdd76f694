/**
 * Responses on runtimes whose own are cheap.
 *
 * @module
 */

/** The runtime's own class. */
export const Response: typeof globalThis.Response = globalThis.Response
