/**
 * A vitest `setupFiles`: Node's own `fetch` begins here. It would take its connections from the `undici` that miniflare brings
 * along, which refuses some of its requests, if a file of the same process loaded that first.
 *
 * @module
 */

Reflect.get(globalThis, 'Response')

export {}
