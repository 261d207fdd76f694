/* @ts-self-types="./web.d.ts" */
/**
 * Responses where the runtime's own are cheap.
 *
 * @module
 */

export const Response = globalThis.Response
