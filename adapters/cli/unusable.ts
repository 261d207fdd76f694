/**
 * The error of a command that can't run.
 *
 * @module
 */

/** The command line asks for what cannot be. */
export class Unusable extends Error {
  override readonly name = 'Unusable'
}
