/**
 * `fieldgate/uploads`: the code that takes uploads, for file stores of your own in Workers and browsers.
 *
 * @module
 */

import type { UploadCode } from './taking.ts'

export type { UploadCode } from './taking.ts'

/**
 * Loads the code that takes uploads. The file stores of fieldgate bring it, and Node, Deno and Bun load it by themselves.
 * Only a file store of your own that is bundled for Workers or browsers needs it, as its member `uploads`.
 *
 * ```ts
 * const app = createApp({ store, files: { ...files, uploads } })
 * ```
 */
export const uploads = async (): Promise<UploadCode> => (await import('./taking.ts')).code
