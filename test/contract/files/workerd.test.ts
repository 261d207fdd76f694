/**
 * The contract of file stores inside workerd: R2.
 */

import { afterAll, describe, it } from 'vitest'
import { verify } from '../../../extras/contract/index.ts'
import { type Remote, remote, startWorker } from './remote.ts'

const worker = await startWorker({})
afterAll(() => worker.dispose())

const open = (): Remote => ({ worker, store: 'r2' })
verify('R2 inside workerd', remote, { open }, { describe, it })
