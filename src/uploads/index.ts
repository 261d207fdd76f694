/**
 * `fieldgate/uploads`: the code that takes uploads, for file stores of your own in Workers and browsers.
 *
 * @module
 */

/** What takes the files of writes. */
export type UploadCode = typeof import('./incoming.ts') & typeof import('./writes.ts')

/**
 * Loads the code that takes uploads. The file stores of fieldgate bring it, and Node, Deno and Bun load it by themselves.
 * Only a file store of your own that is bundled for Workers or browsers needs it, as its member `uploads`.
 *
 * ```ts
 * const files: FileStore = { ...memoryFiles(), uploads }
 * ```
 */
export const uploads = async (): Promise<UploadCode> => {
  const code = await Promise.all([import('./incoming.ts'), import('./writes.ts')])
  return { ...code[0], ...code[1] }
}
