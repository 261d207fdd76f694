/**
 * Responses where the runtime's own are cheap.
 *
 * @module
 */

/** The runtime's own class. */
export const Response: typeof globalThis.Response = globalThis.Response
