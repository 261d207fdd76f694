/**
 * Pages that are still to be rewritten. A page leaves its list when its tests pass; a test says so.
 *
 * @module
 */

/** Pages with blocks of TypeScript that name no file, or do not compile. */
export const UNTYPED: readonly string[] = [
  'docs/extending.md',
  'docs/operations.md',
  'docs/speed.md',
]

/** Pages with programs or commands that do not run, or print something else. */
export const UNRUN: readonly string[] = [
  'docs/account-routes.md',
  'docs/deploy-workers.md',
  'docs/extending.md',
  'docs/models.md',
  'docs/reading.md',
  'docs/sign-in-with.md',
]
