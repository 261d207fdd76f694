/* @ts-self-types="./noble.d.ts" */
/**
 * Password hashing in plain JavaScript (`@noble/hashes`), for runtimes without a scrypt of their own. It gives
 * way to other work between steps.
 *
 * @module
 */

import { scryptAsync } from '@noble/hashes/scrypt.js'
import { hasherOver } from './format.js'

const utf8 = new TextEncoder()

/** The hasher. */
export const hasher = hasherOver((plain, salt, { N, r, p, length }) =>
  scryptAsync(utf8.encode(plain), salt, { N, r, p, dkLen: length }),
)

/** How many hashes may be computed at once: on one thread they would only take memory. */
export const slots = () => 1
