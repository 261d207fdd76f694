/**
 * How records are shown: which of their fields, and with which references filled in.
 *
 * @module
 */

import type { Model } from '../../model/model.ts'
import type { Projection } from '../../ports/store.ts'

/** A reference to fill in. */
export interface Population {
  readonly path: string
  readonly target: Model
  readonly select: Projection | undefined
}

/** How the records of one response are shown. */
export interface View {
  readonly select: Projection | undefined
  readonly populate: readonly Population[]
  /** False if `onGet` failed: the response is then not what was meant, so it is not kept. */
  readonly cacheable: boolean
}
