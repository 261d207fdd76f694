/**
 * The page's files, made of the sources when they are first asked for. The published package has them in a module.
 *
 * @module
 */

/** The page's files. */
export interface Files {
  /** Scripts and styles by their names: gzipped, in base64. */
  readonly assets: Readonly<Record<string, string>>
  /** The name of the script that begins. */
  readonly script: string
  readonly style: string
  /** Changes with any of them. */
  readonly version: string
}

/** The files as they are now; where nothing can be built, as in an image, those of the last build. */
export async function files(): Promise<Files> {
  try {
    const { bundled } = await import('../bundle.ts')
    return await bundled()
  } catch (cause) {
    const built = new URL('../dist/files.js', import.meta.url).href
    const made = await import(built).catch(() => undefined)
    if (!made) throw new Error('The admin page is not built: npm run build', { cause })
    return made.files()
  }
}
