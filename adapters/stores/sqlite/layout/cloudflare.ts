/**
 * The limits of SQLite on Cloudflare, in D1 and in Durable Objects.
 *
 * @module
 */

export const CLOUDFLARE_LIMITS = {
  /** The longest SQL of a statement. */
  maxBytes: 100_000,
  /** A table has 100 columns, four of which are taken. */
  maxSearched: 96,
} as const
