/**
 * No code for uploads but what file stores bring: for bundles.
 *
 * @module
 */

/** Undefined: a file store brings it. */
export const uploads: undefined = undefined
