/** What takes the files of writes, as one module: with two, more of what they share with an app would be apart. */

import { receiveIncoming } from './receive.ts'
import { removeUnheld, saveWithFiles, updateWithFiles } from './writes.ts'

/** What takes the files of writes. */
export interface UploadCode {
  readonly receiveIncoming: typeof receiveIncoming
  readonly removeUnheld: typeof removeUnheld
  readonly saveWithFiles: typeof saveWithFiles
  readonly updateWithFiles: typeof updateWithFiles
}

export const code: UploadCode = { receiveIncoming, removeUnheld, saveWithFiles, updateWithFiles }
