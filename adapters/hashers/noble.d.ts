import type { Hasher } from '../../src/ports/hasher.ts'

/** Hashes passwords as `scrypt$16384$8$5$<salt>$<hash>`, and verifies those of other parameters too. */
export declare const hasher: Hasher

/** How many hashes may be computed at once. */
export declare function slots(): number
