/** The promises of every file store: each sentence of src/ports/services/files.ts as a check. It runs in any runtime. */

import type { Contract } from '../verify.ts'
import type { OpenFiles } from './ask.ts'
import { links } from './links.ts'
import { objects } from './objects.ts'

/** The file store contract; its checks may share a store. */
export const fileContract: Contract<OpenFiles> = { ...objects, ...links }
