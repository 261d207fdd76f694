/**
 * No script for the reference page: for runtimes that cannot read files of packages.
 *
 * @module
 */

/** Undefined: the page has to be told where its script is. */
export async function referenceScript(): Promise<undefined> {
  return undefined
}
