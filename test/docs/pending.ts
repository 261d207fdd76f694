/**
 * Pages that are still to be rewritten. A page leaves its list when its tests pass; a test says so.
 *
 * @module
 */

/** Pages with blocks of TypeScript that name no file, or do not compile. */
export const UNTYPED: readonly string[] = [
  'README.md',
  'docs/account-protection.md',
  'docs/accounts.md',
  'docs/cache.md',
  'docs/extending.md',
  'docs/operations.md',
  'docs/security.md',
  'docs/sessions.md',
  'docs/speed.md',
  'docs/stores.md',
  'docs/uploads.md',
]

/** Pages with programs or commands that do not run, or print something else. */
export const UNRUN: readonly string[] = ['docs/extending.md', 'docs/uploads.md']
