/**
 * Where the code that takes uploads comes from: the file store, or where modules are loaded from disk, the package.
 *
 * @module
 */

import { uploads } from '#uploads'
import type { FileStore } from '../ports/files.ts'
import type { UploadCode } from './index.ts'
import { storageNotConfigured } from './refusals.ts'

/** Whether there is code for uploads to `files`. Bundles for Workers and browsers have what `files` brings. */
export function takesUploads(files: FileStore | undefined): boolean {
  return (files?.uploads ?? uploads) !== undefined
}

/** What takes the files of writes. */
export function uploadCode({
  files,
}: {
  readonly files: FileStore | undefined
}): Promise<UploadCode> {
  const load = files?.uploads ?? uploads
  if (!load) throw storageNotConfigured()
  // The port knows only that it is `uploads` of `fieldgate/uploads`.
  return load() as Promise<UploadCode>
}
