/**
 * What an operation is made of, before its place and its guards are known.
 *
 * @module
 */

import type { HttpError } from '../http/errors.ts'
import type { Operation, Responses, Schema } from './specification.ts'

/** An operation without its place. */
export interface Described
  extends Pick<Operation, 'summary' | 'description' | 'parameters' | 'requestBody'> {
  readonly id: string
  readonly successes: Responses
  readonly refusals: readonly HttpError[]
  /** Whether a hook of the app may respond with another status. */
  readonly isOpen: boolean
  /** The schemas of parameters in the path, by name. */
  readonly path?: Readonly<Record<string, Schema>>
}
